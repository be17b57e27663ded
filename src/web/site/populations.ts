/** What the pages call the populations for which rates hold. */
export const POPULATION_NAMES = {
  POPULATION_AGE_0_TO_2: "children of up to 2",
  POPULATION_AGE_3_TO_9: "children of 3 to 9",
  POPULATION_AGE_10_TO_19: "people of 10 to 19",
  POPULATION_WOMEN_20_TO_59: "women of 20 to 59",
  POPULATION_MEN_20_TO_59: "men of 20 to 59",
  POPULATION_WOMEN_60_AND_OLDER: "women of 60 and older",
  POPULATION_MEN_60_AND_OLDER: "men of 60 and older",
  POPULATION_ADULTS: "adults",
  POPULATION_AGE_10_AND_OLDER: "people of 10 and older",
} as const;

/** A population by its name in the API. */
export type PopulationName = keyof typeof POPULATION_NAMES;
