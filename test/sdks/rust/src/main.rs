//! Calls the four operations and one of the typed API. Arguments: ADDRESS API_KEY ONE TWO.
use std::{env, fs, time::Duration};
use tonic::{transport::Endpoint, Request, Status};
use tonic_types::StatusExt;

#[allow(deprecated)]
mod face {
    tonic::include_proto!("face.v1");
}
use face::{face_service_client::FaceServiceClient, image::Source, Image};

// The typed API refers to google.rpc.Status by its path, so the modules are nested like the packages.
#[allow(dead_code)]
mod google {
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}
#[allow(dead_code)]
mod visage {
    pub mod v1 {
        tonic::include_proto!("visage.v1");
    }
}
use visage::v1::{face_analysis_service_client::FaceAnalysisServiceClient, AnalyzeImageRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().collect();
    let (one, two) = (read_image(&args[3])?, read_image(&args[4])?);

    let channel = Endpoint::new(args[1].clone())?.timeout(Duration::from_secs(30)).connect().await?;
    let authorization: tonic::metadata::MetadataValue<_> = format!("Bearer {}", args[2]).parse()?;
    let authorize = move |mut request: Request<()>| {
        request.metadata_mut().insert("authorization", authorization.clone());
        Ok(request)
    };
    let mut faces = FaceServiceClient::with_interceptor(channel.clone(), authorize.clone());
    let mut analysis = FaceAnalysisServiceClient::with_interceptor(channel, authorize);

    let request = face::MatchFacesRequest { img_1: Some(one.clone()), img_2: Some(two.clone()), ..Default::default() };
    let matched = faces.match_faces(request).await.map_err(describe)?.into_inner().data.unwrap_or_default();
    println!("match_faces: {} ({})", matched.status, matched.score);

    #[allow(deprecated)]
    let compared = {
        let request = face::CompareFacesRequest { img_1: Some(one.clone()), img_2: Some(two), ..Default::default() };
        faces.compare_faces(request).await.map_err(describe)?.into_inner().data.unwrap_or_default()
    };
    println!("compare_faces: {}", compared.confidence);

    let request = face::GetImageAttrRequest { image_attr: Some(one.clone()), ..Default::default() };
    let data = faces.get_image_attr(request).await.map_err(describe)?.into_inner().data.unwrap_or_default();
    let attributes = data.attributes.unwrap_or_default();
    println!("get_image_attr: {} faces, image size {:?}", attributes.faces.len(), attributes.image_size);

    let request = face::GetFaceVecRequest { img: Some(one), quality: true, ..Default::default() };
    let data = faces.get_face_vec(request).await.map_err(describe)?.into_inner().data.unwrap_or_default();
    println!("get_face_vec: {} numbers", data.vector.len());

    let image = visage::v1::Image { source: Some(visage::v1::image::Source::Content(fs::read(&args[3])?)) };
    let request = AnalyzeImageRequest { image: Some(image), ..Default::default() };
    let analyzed = analysis.analyze_image(request).await.map_err(describe)?.into_inner();
    println!("analyze_image: {} faces", analyzed.faces.len());
    Ok(())
}

fn read_image(path: &str) -> std::io::Result<Image> {
    Ok(Image { source: Some(Source::Content(fs::read(path)?)) })
}

/// Describes an error by its details: the reason, the field at fault, and whether and when a retry helps.
fn describe(status: Status) -> String {
    let details = status.get_error_details();
    let Some(info) = details.error_info() else { return status.to_string() };
    let delay = details.retry_info().and_then(|retry| retry.retry_delay).unwrap_or_default();
    let field = |name| info.metadata.get(name).map_or("", String::as_str);
    format!(
        "{} {}, field: {}, retryable: {} after {} ms: {}",
        info.reason,
        field("code"),
        field("field"),
        field("retryable"),
        delay.as_millis(),
        status.message(),
    )
}
