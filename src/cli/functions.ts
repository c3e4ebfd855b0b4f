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
    .description('Functions of a tenant: plugs that a host builds and runs in processes of their own.')
    .helpCommand(false)

  functions
    .command('init')
    .summary('write a function that works as it is')
    .description('Writes an example of a runtime into a folder that is empty or does not exist yet.')
    .argument('<folder>', 'where to')
    .option('--runtime <name>', 'what it is written for', 'plug-node24')
    .option('--name <name>', 'how rules call it; default: after the folder')
    .option('--json', 'print JSON')
    .action((folder: string, flags: InitFlags) => start((terminal) => runInit(folder, flags, terminal)))

  functions
    .command('test')
    .summary('build a function here and call it once')
    .description(
      'Builds and checks the function in a host of its own, which keeps nothing and has no other data, and calls it.\n' +
        'It ends with 1 when the function does not run, or its call fails.',
    )
    .argument('<folder>', 'with the function')
    .option('--properties <json>', 'what to call it with, such as \'{"value": 30}\'; it is only checked without')
    .option('--path <path>', "of a webscript: what to call it with, such as '/any?name=you'")
    .option(
      '--body <text>',
      'of a webscript: sent by POST, as JSON when it is that; of a model: its instances, as JSON',
    )
    .option('--functions <mode>', 'fenced keeps it from the machine, trusted does not', 'fenced')
    .option('--json', 'print JSON')
    .action((folder: string, flags: TestFlags) =>
      start(async (terminal) => (await import('./functions/run-test.ts')).runTest(folder, flags, terminal)),
    )

  functions
    .command('dev')
    .summary('serve a webscript here, and again whenever its files change')
    .description(
      'Serves the webscript in a host of its own, which keeps nothing, and shows its log. Each change of a file makes the\n' +
        'next version, which is called from then on. It ends at SIGINT or SIGTERM.',
    )
    .argument('<folder>', 'with the webscript')
    .option('--port <number>', '0 picks a free one', '8081')
    .option('--functions <mode>', 'fenced keeps it from the machine, trusted does not', 'fenced')
    .action((folder: string, flags: DevFlags) =>
      start(async (terminal) => (await import('./functions/run-dev.ts')).runDev(folder, flags, terminal)),
    )

  connected(functions.command('deploy'))
    .summary('give a function to a host, and wait until it runs')
    .description(
      'Uploads the files of a folder as a version of the function, and shows how the host builds, deploys and checks it.\n' +
        'A version that is a draft on the host gets the new files. It ends with 1 when the version does not run.',
    )
    .argument('<folder>', 'with the function')
    .option('--draft', 'as a draft, whose files may still change and that no rule uses')
    .option('--publish', 'publish it when it runs: nothing of it changes any more')
    .option('--comment <text>', 'kept with the version')
    .action((folder: string, flags: DeployFlags) => start((terminal) => runDeploy(folder, flags, terminal)))

  connected(functions.command('logs'))
    .summary('show the last lines that a function wrote')
    .description(
      'Shows what the processes of a version wrote on the host, the newest line last. Of a webscript it can follow what\n' +
        'comes, with its calls and answers: of all its versions, or the one that is named. It ends at SIGINT or SIGTERM.',
    )
    .argument('<function>', 'its folder, or name@version, or a name for its latest version')
    .option('--follow', 'go on with what comes; webscripts only')
    .action((target: string, flags: LogsFlags) => start((terminal) => runLogs(target, flags, terminal, untilSignal())))

  connected(functions.command('list'))
    .summary('list functions and how they are')
    .description('Lists the latest version of each function, or all versions of one.')
    .argument('[function]', 'its folder or name: all of its versions')
    .action((target: string | undefined, flags: ConnectFlags) => start((terminal) => runList(target, flags, terminal)))

  const secrets = functions
    .command('secrets')
    .summary('give secrets to functions and rules, and take them away')
    .description(
      'Secrets of the tenant. A manifest lists the secrets of a function in deploy.secrets; rules write ${vault.NAME}.\n' +
        'Values are never shown.',
    )
    .helpCommand(false)
  connected(secrets.command('list'))
    .summary('list their names')
    .description('Lists the names of the secrets of the tenant, and when each was given.')
    .action((flags: ConnectFlags) => start((terminal) => listSecrets(flags, terminal)))
  connected(secrets.command('put'))
    .summary('give one, or another value to it')
    .description(
      'Reads the value, which never stands in the command itself; a line break at its end does not count.\n' +
        'Functions have it from their next call on.',
    )
    .argument('<name>', 'letters, digits and _; the variable of the environment that functions find it in')
    .argument('[file]', 'with the value; - or nothing: stdin')
    .action((name: string, file: string | undefined, flags: ConnectFlags) =>
      start((terminal) => putSecret(name, file, flags, terminal)),
    )
  connected(secrets.command('delete'))
    .summary('take one away')
    .description('Takes a secret away. Functions that name it are not called any more until it is there again.')
    .argument('<name>', 'of the secret')
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
    throw new AppError('USAGE', `--runtime ${flags.runtime}: there are ${known.join(', ')}`)
  }
  if ((await namesIn(folder)).length > 0) {
    throw new AppError('USAGE', `${folder} has files already; name a folder that is empty or not there`)
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
