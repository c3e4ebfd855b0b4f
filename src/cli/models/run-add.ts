/** What `models add` does. */
import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '#kernel'
import type { Framework, ModelInfo, ModelsApi, ModelUpload, RemoteUpload } from '#services/models/contract'
import { connect, type ConnectFlags } from '../functions/connect.ts'
import type { Terminal } from '../terminal.ts'
import { readModelFile } from './model-file.ts'
import { type RemoteFlags, remoteOf } from './remote-flags.ts'

export interface AddFlags extends ConnectFlags, RemoteFlags {
  framework?: Framework
  description?: string
}

/** ms between two looks, and how often it is looked */
const PAUSE = 200
const LOOKS = 900

/** 1 when it cannot be loaded, or is not ready after three minutes. */
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

/** Of the file, or of the server that has the model. `USAGE` */
async function uploadOf(
  path: string | undefined,
  flags: AddFlags,
): Promise<Omit<ModelUpload, 'name'> | Omit<RemoteUpload, 'name'>> {
  const remote = remoteOf(flags)
  if ((path === undefined) === (remote === undefined)) {
    throw new AppError('USAGE', 'write the path of a model, or --remote with the address of the server that has it')
  }
  const { framework } = flags
  if (remote !== undefined) return { remote, ...(framework !== undefined && { framework }) }
  const file = await readModelFile(path ?? '', framework)
  return { framework: file.framework, file: file.zip }
}

function kindOf({ framework, framework_version: version, remote }: ModelInfo): string {
  const place = remote === undefined ? '' : ` at ${remote.url}`
  return `${framework}${version === undefined ? '' : ` ${version}`}${place}`
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
