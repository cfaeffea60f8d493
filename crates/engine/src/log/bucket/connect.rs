//! The S3 client's way out: it makes and signs each request, and the door for configured services carries it.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_probe::RefusedCode;
use countersign_probe::configured::{ConfiguredUrl, Fault, ServiceError, Services};
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

use crate::env::Env;

/// Gives every client the same door.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    services: Arc<Services>,
    env: Arc<Env>,
}

impl Connector {
    pub(super) fn new(services: Services, env: Arc<Env>) -> Self {
        Self { services: Arc::new(services), env }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let url = address(&request).map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let bytes = request.body().clone().collect().await?.to_bytes();
        let answer = self.services.exchange(&url, &request.map(|_| bytes), self.env.now()).await;
        let answer = answer.map_err(|error| HttpError::new(kind(&error), error))?;
        Ok(answer.map(HttpResponseBody::from))
    }
}

#[expect(clippy::disallowed_methods, reason = "the client puts it together from the configuration of this machine")]
fn address(request: &HttpRequest) -> Result<ConfiguredUrl, countersign_probe::configured::ConfiguredUrlError> {
    ConfiguredUrl::from_configuration(&request.uri().to_string())
}

/// What the client may try again.
fn kind(error: &ServiceError) -> HttpErrorKind {
    match error.fault {
        Fault::Refused(RefusedCode::ConnectTimeout | RefusedCode::ConnectFailed) => HttpErrorKind::Connect,
        Fault::Refused(RefusedCode::FirstByteTimeout) => HttpErrorKind::Timeout,
        Fault::Refused(RefusedCode::ClosedEarly) | Fault::Body(_) => HttpErrorKind::Interrupted,
        Fault::Refused(_) => HttpErrorKind::Unknown,
    }
}
