//! Calls every operation with files and with Base64, by the client that openapi-generator makes for Rust. Prints what
//! openapi-generators.system.test.ts expects.

use base64::{engine::general_purpose::STANDARD, Engine};
use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::{face_analysis_service_api as typed_api, face_service_api as api, Error};
use openapi::models::*;
use serde_json::{json, Map, Value};
use std::{env, fs, path::PathBuf};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let config = Configuration {
        base_path: env::var("VISAGE_URL").unwrap(),
        api_key: Some(ApiKey { prefix: None, key: env::var("VISAGE_USER_ID").unwrap() }),
        ..Configuration::new()
    };
    let first = PathBuf::from(env::var("VISAGE_PHOTO_1").unwrap());
    let second = PathBuf::from(env::var("VISAGE_PHOTO_2").unwrap());
    let encode = |path: &PathBuf| STANDARD.encode(fs::read(path).unwrap());
    let (text1, text2) = (encode(&first), encode(&second));
    let boxes: Vec<String> = env::var("VISAGE_BOXES").unwrap().split(' ').map(String::from).collect();
    let face = Some(boxes[0].as_str());

    let files = summarize(
        api::match_faces_with_form_data(&config, first.clone(), second.clone(), None, None, None, None).await.unwrap(),
        api::compare_faces_with_form_data(&config, first.clone(), second.clone(), None, None, None, None).await.unwrap(),
        api::get_image_attr_with_form_data(&config, first.clone(), None, None, None).await.unwrap(),
        api::get_face_vec_with_form_data(&config, first.clone(), None, None, None, Some(true)).await.unwrap(),
    );
    let pair = MatchFacesRequest::new(text1.clone(), text2.clone());
    let old_pair = CompareFacesRequest::new(text1.clone(), text2);
    let text = summarize(
        api::match_faces_with_json(&config, pair, face, None, None, None).await.unwrap(),
        api::compare_faces_with_json(&config, old_pair, face, None, None, None).await.unwrap(),
        api::get_image_attr_with_json(&config, GetImageAttrRequest::new(text1.clone()), Some(boxes.clone()), Some(true), None)
            .await
            .unwrap(),
        api::get_face_vec_with_json(&config, GetFaceVecRequest::new(text1), face, Some(true), None, Some(true)).await.unwrap(),
    );
    let error = match api::get_face_vec_with_form_data(&config, first, Some("1,2,3"), None, None, None).await {
        Err(Error::ResponseError(fault)) => {
            let response: ErrorResponse = serde_json::from_str(&fault.content).unwrap();
            json!([fault.status.as_u16(), response.code, response.data.reason])
        }
        _ => Value::Null,
    };
    let typed = call_typed(&config, env::var("VISAGE_PHOTO_1").unwrap().into(), second).await;
    println!("{}", json!({ "files": files, "text": text, "error": error, "typed": typed }));
}

async fn call_typed(config: &Configuration, first: PathBuf, second: PathBuf) -> Value {
    let image = V1Image { content: Some(fs::read(&first).unwrap()), ..V1Image::new() };
    let features = vec![V1Feature::FeatureAttributes, V1Feature::FeatureQuality];
    let measured = typed_api::v1_analyze_image_with_form_data(config, first.clone(), Some(features), None, Some(2))
        .await
        .unwrap();
    let request = V1AnalyzeImageRequest {
        features: Some(vec![V1Feature::FeatureEmbedding]),
        max_faces: Some(1),
        ..V1AnalyzeImageRequest::new(image.clone())
    };
    let embedded = typed_api::v1_analyze_image_with_json(config, request, None, None, None).await.unwrap();
    let source = V1FaceSource { embedding: embedded.faces[0].embedding.clone(), ..V1FaceSource::new() };
    let target = V1FaceSource { image: Some(Box::new(image.clone())), ..V1FaceSource::new() };
    let request =
        V1CompareFacesRequest { max_false_match_rate: Some(0.001), ..V1CompareFacesRequest::new(source, target) };
    let stored = typed_api::v1_compare_faces_with_json(config, request, None, None, None).await.unwrap();
    let pair = typed_api::v1_compare_faces_with_form_data(config, first.clone(), second, None, None, None).await.unwrap();
    let error = match typed_api::v1_analyze_image_with_form_data(config, first, None, Some(vec!["1,2,3".into()]), None).await {
        Err(Error::ResponseError(fault)) => {
            let status: V1Status = serde_json::from_str(&fault.content).unwrap();
            json!([fault.status.as_u16(), status.reason])
        }
        _ => Value::Null,
    };
    let faces: Vec<Value> = measured
        .faces
        .iter()
        .map(|face| {
            let (age, gender) = (face.age.as_ref().unwrap(), face.gender.as_ref().unwrap());
            json!([age.range, gender.value, face.quality.as_ref().unwrap().usable])
        })
        .collect();
    json!({
        "faces": faces,
        "facesFound": measured.faces_found,
        "matched": stored.matches.iter().map(|pair| pair.matched).collect::<Vec<_>>(),
        "pairs": pair.matches.len(),
        "error": error,
    })
}

fn summarize(
    matched: MatchFacesResult,
    compared: CompareFacesResult,
    attr: GetImageAttrResult,
    vec: GetFaceVecResult,
) -> Value {
    let mut faces = Map::new();
    let mut size = Value::Null;
    for (name, value) in attr.data.attributes {
        if name == "image_size" {
            size = value;
            continue;
        }
        let face: Face = serde_json::from_value(value).unwrap();
        let nose = face.landmarks.face_land_mark["noseTip"].x;
        faces.insert(name, json!([face.age, face.face_rectangle, nose]));
    }
    json!({
        "match": [matched.data.score, matched.data.status],
        "compare": compared.data.confidence,
        "faces": faces,
        "imageSize": size,
        "vector": vec.data.vector.len(),
        "facesFound": vec.data.detail.unwrap().images[0].faces_found,
    })
}
