/** Implements `models add`: uploads a model and waits until it is ready. */
import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '#kernel'
import type {
  Framework,
  ModelInfo,
  ModelsApi,
  ModelUpload,
  RemoteModel,
  RemoteProtocol,
  RemoteUpload,
} from '#services/models/contract'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { zipSync } from 'fflate'
import { mainFileOf } from '#services/models'
import { connect, type ConnectFlags } from '../functions/connect.ts'
import type { Terminal } from '../terminal.ts'

const BY_ENDING: ReadonlyMap<string, Framework> = new Map([
  ['.joblib', 'sklearn'],
  ['.bst', 'xgboost'],
  ['.ubj', 'xgboost'],
  ['.pt', 'pytorch'],
  ['.dill', 'custom'],
])

interface ModelFile {
  readonly framework: Framework
  readonly zip: Uint8Array
}

async function readModelFile(path: string, chosen: Framework | undefined): Promise<ModelFile> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new AppError('NOT_FOUND', `${path}: file or folder not found`)
  const framework = chosen ?? (found.isDirectory() ? 'tensorflow' : BY_ENDING.get(extname(path)))
  if (framework === undefined) {
    throw new AppError(
      'USAGE',
      `--framework: missing, and the name of ${path} ends in none of ${[...BY_ENDING.keys()].join(', ')}; name the framework`,
    )
  }
  if (extname(path) === '.zip') return { framework, zip: await readFile(path) }
  const files = found.isDirectory() ? await filesOf(path) : { [mainFileOf(framework)]: await readFile(path) }
  return { framework, zip: zipSync(files) }
}

async function filesOf(folder: string): Promise<Record<string, Uint8Array>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)] as const))
  return Object.fromEntries(files)
}

export interface AddFlags extends ConnectFlags, RemoteFlags {
  framework?: Framework
  description?: string
}

const PAUSE = 200
const LOOKS = 900

/** Adds a model. Returns 1 if it cannot be loaded, or is not ready after three minutes. */
export async function runAdd(
  name: string,
  path: string | undefined,
  flags: AddFlags,
  terminal: Terminal,
): Promise<0 | 1> {
  const { models } = connect(flags, process.env)
  const { description } = flags
  const upload = { ...(await uploadOf(path, flags)), ...(description !== undefined && { description }) }
  await ((await exists(models, name)) ? models.replace(name, upload) : models.create({ name, ...upload }))
  const info = await loaded(models, name)
  if (flags.json === true) terminal.out(`${JSON.stringify(info)}\n`)
  else if (info.ready) terminal.out(`${name} is ready: ${kindOf(info)}, version ${info.version}\n`)
  for (const warning of info.warnings ?? []) terminal.err(`warning: ${warning}\n`)
  if (info.ready) return 0
  terminal.err(`error: ${name} is not ready: ${info.failure ?? 'it is still being loaded'}\n`)
  return 1
}

async function uploadOf(
  path: string | undefined,
  flags: AddFlags,
): Promise<Omit<ModelUpload, 'name'> | Omit<RemoteUpload, 'name'>> {
  const remote = remoteOf(flags)
  if ((path === undefined) === (remote === undefined)) {
    throw new AppError('USAGE', 'pass either the path of a model, or --remote with the address of its server')
  }
  const { framework } = flags
  if (remote !== undefined) return { remote, ...(framework !== undefined && { framework }) }
  const file = await readModelFile(path ?? '', framework)
  return { framework: file.framework, file: file.zip }
}

function kindOf({ framework, framework_version: version, remote }: ModelInfo): string {
  const origin = remote === undefined ? '' : ` at ${remote.url}`
  return `${framework}${version === undefined ? '' : ` ${version}`}${origin}`
}

async function exists(models: ModelsApi, name: string): Promise<boolean> {
  try {
    await models.get(name)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

async function loaded(models: ModelsApi, name: string): Promise<ModelInfo> {
  for (let look = 1; ; look++) {
    const info = await models.get(name)
    if (info.ready || info.failure !== undefined || look === LOOKS) return info
    await wait(PAUSE)
  }
}

interface RemoteFlags {
  remote?: string
  protocol?: RemoteProtocol
  model?: string
  header: readonly string[]
}

/** Returns the remote model; undefined: the model is in a file. Throws `USAGE`. */
function remoteOf({ remote: url, protocol, model, header }: RemoteFlags): RemoteModel | undefined {
  if (url === undefined) {
    const names = { protocol, model, header: header[0] }
    const extra = Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]))
    if (extra.length > 0) throw new AppError('USAGE', `${extra.join(' and ')}: use only together with --remote ADDRESS`)
    return undefined
  }
  if (protocol === undefined) throw new AppError('USAGE', '--remote: requires --protocol v1 or --protocol v2')
  const headers = Object.fromEntries(header.map(headerOf))
  return { url, protocol, ...(model !== undefined && { model }), ...(header.length > 0 && { headers }) }
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf(':')
  // do not show the text, which may be a secret
  if (at < 1) throw new AppError('USAGE', "--header: write 'name: value', such as 'Authorization: Bearer ...'")
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
