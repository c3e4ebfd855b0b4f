/** The command `models`, with its own commands and their options. */
import { Option } from 'commander'
import { FRAMEWORKS, REMOTE_PROTOCOLS } from '#services/models/contract'
import { OPTIONS } from '#host/spi'
import { gather, type DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import type { ConnectFlags } from './functions/connect.ts'
import type { AddFlags } from './models/run-add.ts'
import type { RuntimeFlags } from './models/run-runtime-add.ts'

/** `reflexarc models add|predict|list|runtime`: models of a tenant, and the Pythons that run them. */
export const defineModels: DefineCommand = (program, start) => {
  const models = program
    .command('models')
    .summary('give models to a host, ask them, and make runtimes for them')
    .description('Machine-learning models of a tenant, which a host loads and asks for predictions.')
    .helpCommand(false)

  connected(models.command('add'))
    .summary('give a model to a host, and wait until it is ready')
    .description(
      'Uploads a model that its library saved: model.joblib, model.bst, model.pt, the folder of a SavedModel, or a zip of it;\n' +
        'or says which server has it. A model of that name is overwritten. It ends with 1 when the model cannot be loaded.',
    )
    .argument('<name>', 'how it is called on the host')
    .argument('[path]', 'of the file or folder')
    .addOption(new Option('--framework <name>', 'when the path does not say it').choices(FRAMEWORKS))
    .option('--description <text>', 'kept with the model')
    .option('--remote <address>', 'of the server that has it, up to what comes before /v1 or /v2')
    .addOption(
      new Option('--protocol <version>', 'v1: TensorFlow Serving, KServe; v2: MLServer, KServe, Triton').choices(
        REMOTE_PROTOCOLS,
      ),
    )
    .option('--model <name>', 'how the server calls it; default its name here')
    .option('--header <name: value>', 'sent with each request to the server (repeatable)', gather, [])
    .action((name: string, path: string | undefined, flags: AddFlags) =>
      start(async (terminal) => (await import('./models/run-add.ts')).runAdd(name, path, flags, terminal)),
    )

  connected(models.command('predict'))
    .summary('ask a model, and print a prediction a line')
    .argument('<name>', 'of the model')
    .argument(
      '<instances>',
      "JSON: a list of instances, such as '[[1, 2, 3]]', or the body of a request; - reads stdin",
    )
    .action((name: string, instances: string, flags: ConnectFlags) =>
      start(async (terminal) => (await import('./models/run-predict.ts')).runPredict(name, instances, flags, terminal)),
    )

  connected(models.command('list'))
    .summary('list models and how they are')
    .action((flags: ConnectFlags) =>
      start(async (terminal) => (await import('./models/run-list.ts')).runList(flags, terminal)),
    )

  models
    .command('runtime')
    .summary('make a Python that runs models of a framework')
    .helpCommand(false)
    .command('add')
    .description(
      'Makes a virtual environment with a pinned version of the framework where a host of that data folder looks for it.\n' +
        'The host finds it without a restart. Boosters of XGBoost need none.',
    )
    .addArgument(program.createArgument('<framework>', 'what it is for').choices(FRAMEWORKS))
    .option('--data <folder>', `data folder of the host (${OPTIONS.data.env}, default ${OPTIONS.data.default})`)
    .option('--python <program>', 'which Python to make it of', 'python3')
    .action((framework: string, flags: RuntimeFlags) =>
      start(async (terminal) =>
        (await import('./models/run-runtime-add.ts')).runRuntimeAdd(framework, flags, terminal),
      ),
    )

  models.addHelpText(
    'after',
    `
Examples:
  reflexarc models add machine-anomaly fixtures/models/machine-anomaly/model.bst
  reflexarc models add wear --remote https://models.example.com --protocol v2 --header 'Authorization: Bearer ...'
  reflexarc models predict machine-anomaly '[[92.5], [31]]'
  reflexarc models runtime add sklearn`,
  )
}
