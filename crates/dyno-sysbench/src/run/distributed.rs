//! A run whose threads are those of generators: what travels to them, and what they do with it.

use super::environment::environment;
use super::reporter::Start;
use super::scripts::{LuaScripts, WeightedScript, threads};
use super::{LoadedScript, Opened, Unusable};
use crate::job::Job;
use crate::logger::{Logger, Terminal};
use crate::options::Options;
use crate::sysbench_work::ScriptWork;
use dyno_engine::workload::ClientId;
use dyno_engine::{
    CustomAudit, LoadInput, PartialResult, Start as CommonStart, TrialError, run_script_subset,
};
use dyno_lua::ScriptSource;
use dyno_model::event::Listener;
use dyno_model::target::Target;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

impl ScriptWork {
    /// The script of a run, whose main state is loaded.
    pub(crate) fn new(job: &Job<'_>, script: &LoadedScript) -> Self {
        let environment = &script.recipe.environment;
        let (name, is_module) = match &environment.script {
            ScriptSource::File(path) => (path.to_string_lossy().into_owned(), false),
            ScriptSource::Module(name) => (name.clone(), true),
            ScriptSource::Text { name, .. } => (name.clone(), false),
        };
        Self {
            name,
            is_module,
            files: environment.loaded_files(),
            options: job.options.as_arguments(),
            argv: environment.argv.clone(),
            seed: job.seed,
        }
    }

    /// Runs the threads of one of several generators. `say` receives what the script logs.
    ///
    /// # Errors
    /// When the threads cannot begin.
    pub fn run_subset(
        &self,
        targets: &[Target],
        input: &LoadInput<'_>,
        ready: impl FnOnce() -> Result<CommonStart, TrialError>,
        listener: &mut dyn Listener,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<PartialResult, TrialError> {
        let terminal = Terminal { out: Box::new(LineForwarder(say)), error: Box::new(io::sink()) };
        let logger = Arc::new(Logger::new(terminal));
        let failed = |message: String| TrialError::Script { client: ClientId(0), message };
        let unusable = |why| match why {
            Unusable::Script(error) => failed(error.message),
            Unusable::Options(error) => failed(error.words().to_owned()),
        };
        let words = [self.name.clone(), "run".to_owned()].into_iter().chain(self.options.clone());
        let arguments: Vec<OsString> = words.map(OsString::from).collect();
        let mut options =
            Options::parse(&arguments).map_err(|error| unusable(Unusable::Options(error)))?;
        logger.set_verbosity(options.general.verbosity);
        let source = match self.is_module {
            true => ScriptSource::Module(self.name.clone()),
            false => ScriptSource::File(PathBuf::from(&self.name)),
        };
        let mut environment = environment(source, &options, self.argv.clone(), self.seed, &logger);
        environment.files.clone_from(&self.files);
        environment.subset = Some(input.clients);
        if let Some(driver) = options.database.driver() {
            environment.databases.access_mut(driver).targets = targets.to_vec();
        }
        let opened = Opened::new(environment).map_err(unusable)?;
        opened.take(&mut options).map_err(unusable)?;
        let loaded = opened.loaded(&options).map_err(|error| failed(error.message))?;
        let recipe = Arc::clone(&loaded.recipe);
        // The coordinator announces the start.
        let nobody = Terminal { out: Box::new(io::sink()), error: Box::new(io::sink()) };
        let clients = LuaScripts {
            scripts: vec![WeightedScript { name: self.name.clone(), weight: 1, recipe }],
            seed: self.seed,
            audit: Arc::default(),
            logger,
            start: Arc::new(Start::new(&Arc::new(Logger::new(nobody)), &options.general)),
        };
        let threads = threads(&options.general);
        run_script_subset(clients, &CustomAudit::default(), &threads, input, ready, listener)
    }
}

/// Hands over lines, each of which a logger writes at once.
struct LineForwarder(Arc<dyn Fn(&str) + Send + Sync>);

impl Write for LineForwarder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
