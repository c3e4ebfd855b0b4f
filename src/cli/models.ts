/** `reflexarc models add|predict|list|runtime`: manages a tenant's models and their Python environments. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Argument, Option } from 'commander'
import { OPTIONS } from '#host/spi'
import { AppError, messageOf } from '#kernel'
import { FRAMEWORKS, type ModelInfo, REMOTE_PROTOCOLS } from '#services/models/contract'
import { DATA, dataFolder, type DefineCommand, gather } from './command.ts'
import { connected } from './connected.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'
import { type AddFlags, runAdd } from './models/run-add.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (models, start) => {
  models
    .description('Manages machine-learning models of a tenant, which a host loads to serve predictions.')
    .helpCommand(false)

  connected(models.command('add'))
    .summary('upload a model to a host, and wait until it is ready')
    .description(
      'Uploads a saved model (model.joblib, model.bst, model.pt, the folder of a SavedModel, or a zip of it), or registers a\n' +
        'model on another server. Overwrites a model of the same name. The exit code is 1 if the model cannot be loaded.',
    )
    .argument('<name>', 'name of the model on the host')
    .argument('[path]', 'path of the file or folder')
    .addOption(
      new Option('--framework <name>', 'framework, if the name of the file does not determine it').choices(FRAMEWORKS),
    )
    .option('--description <text>', 'description stored with the model')
    .option('--remote <address>', 'address of the server that has the model, without /v1 or /v2')
    .addOption(
      new Option('--protocol <version>', 'v1: TensorFlow Serving, KServe; v2: MLServer, KServe, Triton').choices(
        REMOTE_PROTOCOLS,
      ),
    )
    .option('--model <name>', 'name of the model on the server; default: its name on the host')
    .option('--header <name: value>', 'header of each request to the server (repeatable)', gather, [])
    .action((name: string, path: string | undefined, flags: AddFlags) =>
      start((terminal) => runAdd(name, path, flags, terminal)),
    )

  connected(models.command('predict'))
    .summary('print the predictions of a model, one per line')
    .argument('<name>', 'name of the model')
    .argument(
      '<instances>',
      "JSON: a list of instances, such as '[[1, 2, 3]]', or the body of a request; - reads stdin",
    )
    .action((name: string, instances: string, flags: ConnectFlags) =>
      start((terminal) => runPredict(name, instances, flags, terminal)),
    )

  connected(models.command('list'))
    .summary('list models with their status')
    .action((flags: ConnectFlags) => start((terminal) => runList(flags, terminal)))

  models
    .command('runtime')
    .summary('install the Python environment of a framework')
    .helpCommand(false)
    .command('add')
    .description(
      'Creates a virtual environment with a pinned version of the framework in the data folder of a host.\n' +
        'The host finds it without a restart. XGBoost boosters do not need an environment.',
    )
    .addArgument(new Argument('<framework>', 'framework of the environment').choices(FRAMEWORKS))
    .option(...DATA)
    .option('--python <program>', 'Python program that creates the environment', 'python3')
    .action((framework: string, flags: RuntimeFlags) => start((terminal) => runRuntimeAdd(framework, flags, terminal)))

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

/** Prints one prediction per line; with `--json` the whole result. */
async function runPredict(name: string, instances: string, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const input = parsed(instances === '-' ? await text(process.stdin) : instances)
  const answer = await connect(flags, process.env).models.predict(
    name,
    Array.isArray(input) ? { instances: input } : (input as object),
  )
  if (flags.json === true || !('predictions' in answer)) terminal.out(`${JSON.stringify(answer)}\n`)
  else for (const one of answer.predictions) terminal.out(`${JSON.stringify(one)}\n`)
  return 0
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new AppError('USAGE', `the instances are not JSON: ${messageOf(error)}`)
  }
}

const HEAD = ['name', 'framework', 'version', 'status', 'changed'] as const

async function runList(flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const found = await connect(flags, process.env).models.list()
  if (flags.json === true) for (const one of found) terminal.out(`${JSON.stringify(one)}\n`)
  else if (found.length === 0) terminal.out('no models\n')
  else terminal.out(`${tableLines([HEAD, ...found.map(rowOf)]).join('\n')}\n`)
  return 0
}

function rowOf({
  name,
  framework,
  framework_version: of,
  version,
  remote,
  ready,
  failure,
  updatedOn,
}: ModelInfo): readonly string[] {
  const status = ready ? 'ready' : failure === undefined ? 'loading' : `failed: ${failure.slice(0, 60)}`
  const kind = remote === undefined ? (of ?? '') : `at ${remote.url}`
  return [name, `${framework} ${kind}`.trim(), version, status, updatedOn]
}

interface RuntimeFlags {
  data?: string
  python: string
}

/** Packages per framework, tested with the models in fixtures/models. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sklearn: ['scikit-learn==1.9.1', 'joblib==1.6.0', 'numpy==2.4.6', 'scipy==1.17.1'],
  xgboost: ['xgboost-cpu==3.2.0', 'numpy==2.4.6', 'scipy==1.17.1'],
  tensorflow: ['tensorflow-cpu==2.21.0'],
  custom: ['dill==0.4.1', 'numpy==2.4.6', 'scipy==1.17.1', 'scikit-learn==1.9.1', 'joblib==1.6.0'],
}

/** Implements `models runtime add`: creates a Python environment for a framework. */
async function runRuntimeAdd(framework: string, flags: RuntimeFlags, terminal: Terminal): Promise<0> {
  const data = dataFolder(flags, process.env)
  const parent = process.env[OPTIONS.modelRuntimes.env] || join(data, 'model-runtimes')
  const folder = join(parent, framework)
  const packages = PACKAGES[framework]
  if (packages === undefined) {
    throw new AppError(
      'USAGE',
      `PyPI offers ${framework} only with drivers of graphics cards; create an environment yourself at ${folder}, such as with Debian's python3-torch and python3 -m venv --system-site-packages`,
    )
  }
  if (existsSync(folder)) throw new AppError('USAGE', `${folder} already exists; delete it to install it again`)
  await mkdir(parent, { recursive: true })
  try {
    await run(flags.python, ['-m', 'venv', folder], terminal)
    const how = ['--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--quiet']
    await run(join(folder, 'bin', 'python'), ['-I', '-m', 'pip', 'install', ...how, ...packages], terminal)
  } catch (error) {
    // an incomplete folder would look like a complete environment
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  terminal.out(`${framework} was installed in ${folder}: ${packages.join(', ')}\n`)
  return 0
}

function run(command: string, args: readonly string[], terminal: Terminal): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => terminal.err(text))
    }
    child.on('error', (error) => failed(new AppError('USAGE', `${command} could not be started: ${error.message}`)))
    child.on('close', (code) => {
      if (code === 0) done()
      else failed(new AppError('USAGE', `${command} ${args.slice(0, 4).join(' ')} exited with ${code}`))
    })
  })
}
