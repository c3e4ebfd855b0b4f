/** `reflexarc functions init|test|dev|deploy|logs|list|secrets`: manages a tenant's functions. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '#kernel'
import { type Manifest, readManifest, type Runtime, RUNTIMES, TYPE_NAMES } from '#services/functions'
import { type DefineCommand, untilSignal } from './command.ts'
import { connected } from './connected.ts'
import type { ConnectFlags } from './functions/connect.ts'
import {
  deleteSecret,
  type DeployFlags,
  listSecrets,
  type LogsFlags,
  putSecret,
  runDeploy,
  runList,
  runLogs,
} from './functions/remote-functions.ts'
import type { DevFlags } from './functions/run-dev.ts'
import type { TestFlags } from './functions/run-test.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (functions, start) => {
  functions
    .description(
      'Manages the functions of a tenant: uploaded plugs, webscripts and models, which a host runs in separate processes.',
    )
    .helpCommand(false)

  functions
    .command('init')
    .summary('write a working example of a function')
    .description('Writes a working example for a runtime into a folder that is empty or does not exist yet.')
    .argument('<folder>', 'target folder')
    .option('--runtime <name>', 'runtime of the function', 'plug-node24')
    .option('--name <name>', 'name of the function; default: derived from the name of the folder')
    .option('--json', 'print JSON')
    .action((folder: string, flags: InitFlags) => start((terminal) => runInit(folder, flags, terminal)))

  functions
    .command('test')
    .summary('build a function locally and call it once')
    .description(
      'Builds and checks the function in a temporary host without other data, and calls it once.\n' +
        'The exit code is 1 if the function does not run or the call fails.',
    )
    .argument('<folder>', 'folder of the function')
    .option(
      '--properties <json>',
      'properties of the call, such as \'{"value": 30}\'; without them the function is only checked',
    )
    .option('--path <path>', "for a webscript: path of the call, such as '/any?name=you'")
    .option(
      '--body <text>',
      'for a webscript: body of a POST, sent as JSON if it is valid JSON; for a model: instances as JSON',
    )
    .option('--functions <mode>', 'fenced: run in a sandbox; trusted: run without one', 'fenced')
    .option('--json', 'print JSON')
    .action((folder: string, flags: TestFlags) =>
      start(async (terminal) => (await import('./functions/run-test.ts')).runTest(folder, flags, terminal)),
    )

  functions
    .command('dev')
    .summary('serve a webscript locally, and redeploy it when its files change')
    .description(
      'Serves the webscript in a temporary host, and prints its log. Each change of a file creates the next version, which\n' +
        'receives the following calls. Runs until SIGINT or SIGTERM.',
    )
    .argument('<folder>', 'folder of the webscript')
    .option('--port <number>', 'port to listen on; 0: any free port', '8081')
    .option('--functions <mode>', 'fenced: run in a sandbox; trusted: run without one', 'fenced')
    .action((folder: string, flags: DevFlags) =>
      start(async (terminal) => (await import('./functions/run-dev.ts')).runDev(folder, flags, terminal)),
    )

  connected(functions.command('deploy'))
    .summary('upload a function to a host, and wait until it runs')
    .description(
      'Uploads the files of a folder as a version of the function, and prints how the host builds, deploys and checks it.\n' +
        'If the version is a draft on the host, its files are replaced. The exit code is 1 if the version does not run.',
    )
    .argument('<folder>', 'folder of the function')
    .option('--draft', 'upload a draft, whose files may still change and which rules cannot use')
    .option('--publish', 'publish the version once it runs; it can no longer change then')
    .option('--comment <text>', 'comment stored with the version')
    .action((folder: string, flags: DeployFlags) => start((terminal) => runDeploy(folder, flags, terminal)))

  connected(functions.command('logs'))
    .summary('print the last log lines of a function')
    .description(
      'Prints the log of a version on the host, the newest line last. For a webscript it can follow new lines, including\n' +
        'requests and responses, of all versions or of the named one, until SIGINT or SIGTERM.',
    )
    .argument('<function>', 'folder of the function, name@version, or name for the latest version')
    .option('--follow', 'continue with new lines; webscripts only')
    .action((target: string, flags: LogsFlags) => start((terminal) => runLogs(target, flags, terminal, untilSignal())))

  connected(functions.command('list'))
    .summary('list functions with their status')
    .description('Lists the latest version of each function, or all versions of one.')
    .argument('[function]', 'folder or name of a function, to list all its versions')
    .action((target: string | undefined, flags: ConnectFlags) => start((terminal) => runList(target, flags, terminal)))

  const secrets = functions
    .command('secrets')
    .summary('list, set and delete secrets of functions and rules')
    .description(
      'Manages secrets of the tenant. A manifest lists the secrets of a function in deploy.secrets; rules use ${vault.NAME}.\n' +
        'Values are never shown.',
    )
    .helpCommand(false)
  connected(secrets.command('list'))
    .summary('list the names of secrets')
    .description('Lists the names of the secrets of the tenant, and when each was set.')
    .action((flags: ConnectFlags) => start((terminal) => listSecrets(flags, terminal)))
  connected(secrets.command('put'))
    .summary('set a secret')
    .description(
      'Reads the value from a file or from standard input, without a line break at its end.\n' +
        'The value applies from the next call of a function.',
    )
    .argument('<name>', 'name of the secret and of the environment variable of functions: letters, digits and _')
    .argument('[file]', 'file with the value; - or absent: standard input')
    .action((name: string, file: string | undefined, flags: ConnectFlags) =>
      start((terminal) => putSecret(name, file, flags, terminal)),
    )
  connected(secrets.command('delete'))
    .summary('delete a secret')
    .description('Deletes a secret. Calls of functions that use it fail until it is set again.')
    .argument('<name>', 'name of the secret')
    .action((name: string, flags: ConnectFlags) => start((terminal) => deleteSecret(name, flags, terminal)))

  functions.addHelpText(
    'after',
    `
Examples:
  reflexarc functions init too-warm
  reflexarc functions test too-warm --properties '{"value": 30}'
  reflexarc functions deploy too-warm --url http://127.0.0.1:8080`,
  )
}

interface InitFlags {
  runtime: string
  name?: string
  json?: boolean
}

/** Throws `USAGE` for an unknown runtime, or for a folder that is not empty. */
async function runInit(folder: string, flags: InitFlags, terminal: Terminal): Promise<0> {
  const runtime = RUNTIMES.get(flags.runtime)
  if (runtime === undefined || runtime.example.size === 0) {
    const known = [...RUNTIMES.values()].flatMap(({ name, example }) => (example.size > 0 ? [name] : []))
    throw new AppError('USAGE', `--runtime: "${flags.runtime}" is not a runtime; use one of ${known.join(', ')}`)
  }
  if ((await namesIn(folder)).length > 0) {
    throw new AppError('USAGE', `${folder} already contains files; use a folder that is empty or does not exist`)
  }
  const name = flags.name ?? nameAfter(folder)
  const files = exampleOf(runtime, name)
  // an invalid name is rejected before anything is written
  const { manifestFile } = TYPE_NAMES[runtime.functionType]
  const manifest = readManifest(runtime.functionType, new TextEncoder().encode(files.get(manifestFile) ?? ''))
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  if (flags.json === true) terminal.out(`${JSON.stringify({ name, folder, files: [...files.keys()] })}\n`)
  else {
    const tried = {
      plugs: `--properties '${JSON.stringify(sampleOf(manifest))}'`,
      webscripts: `--path '/'`,
      models: `--body '[[10, 3]]'`,
    }[runtime.functionType]
    const next = [`reflexarc functions test ${folder} ${tried}`, `reflexarc functions deploy ${folder}`]
    terminal.out([`${name} is in ${folder}: ${[...files.keys()].join(', ')}`, ...next, ''].join('\n'))
  }
  return 0
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return []
    throw new AppError('USAGE', `${folder} is not a readable folder`)
  }
}

function exampleOf({ example, functionType }: Runtime, name: string): ReadonlyMap<string, string> {
  const { name: exampleName } = JSON.parse(example.get(TYPE_NAMES[functionType].manifestFile) ?? '{}') as {
    readonly name: string
  }
  return new Map(
    [...example].map(([path, text]) => [
      path,
      text.replaceAll(exampleName, name).replaceAll(kebab(exampleName), kebab(name)),
    ]),
  )
}

function sampleOf({ interface: { input = [] } = {} }: Manifest): Readonly<Record<string, unknown>> {
  const samples = { string: 'text', boolean: true, object: {}, array: [] } as const
  const sample = (type: string): unknown => (Object.hasOwn(samples, type) ? samples[type as keyof typeof samples] : 30)
  return Object.fromEntries(
    input
      .filter(({ mandatory }) => mandatory === true)
      .map(({ name, dataType = 'double' }) => [name, sample(dataType)]),
  )
}

/** Derives a function's name from a folder's: `too-warm` becomes `tooWarm`. */
function nameAfter(folder: string): string {
  return basename(resolve(folder)).replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_, letter: string) =>
    letter.toUpperCase(),
  )
}

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
}
