//! Calls every operation with files and with Base64, by the client that openapi-generator makes for Rust. Prints what
//! openapi-generators.system.test.ts expects.

use base64::{engine::general_purpose::STANDARD, Engine};
use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::{face_service_api as api, Error};
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
    println!("{}", json!({ "files": files, "text": text, "error": error }));
}

fn summarize(
    matched: MatchFacesResponse,
    compared: CompareFacesResponse,
    attr: GetImageAttrResponse,
    vec: GetFaceVecResponse,
) -> Value {
    let mut faces = Map::new();
    let mut size = Value::Null;
    for (name, value) in attr.data.attributes {
        match value {
            AttributesValue::Face(face) => {
                let nose = face.landmarks.face_land_mark["noseTip"].x;
                faces.insert(name, json!([face.age, face.face_rectangle, nose]));
            }
            AttributesValue::ArrayVeci32(numbers) => size = json!(numbers),
        }
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
