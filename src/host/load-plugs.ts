/** Loads the plugs of a command: the built-in ones, and those in the user's files and folders. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { builtins, createBuiltins } from '#plugins'
import { createRegistry, type Plug, type PlugServices } from '#core'
import { AppError, messageOf } from '#kernel'
import { readModule, type PlugModule, type ReadPlugs } from './plug-modules.ts'

/** Returns the built-in plugs and those from `readPlugs`. `services`: the ports that built-in plugs use. */
export async function loadPlugs(paths: readonly string[], services: PlugServices = {}): Promise<readonly Plug[]> {
  // callURL stays offline: simulations call other systems only on request
  return [...createBuiltins({ clock: () => performance.now(), services }), ...(await readPlugs(paths)).plugs]
}

/** Throws `NOT_FOUND` or `PLUG`; one error lists all problems. A changed file is read again, without its imports. */
export async function readPlugs(paths: readonly string[]): Promise<ReadPlugs> {
  const modules = new Map<string, readonly Plug[]>()
  const problems: AppError[] = []
  for (const path of paths) {
    try {
      for (const { address, plugs } of await modulesAt(path)) modules.set(address, plugs)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(error)
    }
  }
  const [first] = problems
  if (first) throw new AppError(first.code, problems.map(messageOf).join('\nerror: '), { cause: first.cause })
  const plugs = new Set([...modules.values()].flat())
  createRegistry([...builtins, ...plugs])
  return { plugs: [...plugs], modules: [...modules.keys()] }
}

async function modulesAt(path: string): Promise<readonly PlugModule[]> {
  const place = resolve(path)
  if (!existsSync(place)) {
    throw new AppError(
      'NOT_FOUND',
      `${path}: the file does not exist; --plugs takes an ES module or a folder of such modules`,
    )
  }
  if (!statSync(place).isDirectory()) {
    const module = await moduleAt(place, path)
    if (module.plugs.length > 0) return [module]
    throw new AppError(
      'PLUG',
      `${path}: its exports (${module.names || 'none'}) lack a plug; export the result of definePlug`,
    )
  }
  const found: PlugModule[] = []
  for (const name of readdirSync(place).filter(isModule).toSorted()) {
    const module = await moduleAt(join(place, name), join(path, name))
    if (module.plugs.length > 0) found.push(module)
  }
  if (found.length > 0) return found
  throw new AppError('PLUG', `${path}: the modules of this folder lack a plug; export the result of definePlug`)
}

function isModule(name: string): boolean {
  return /\.(?:m?js|m?ts)$/.test(name) && !/\.(?:d|test)\.\w+$/.test(name)
}

/** Modification time and size of each file when first read: Node loads a module only once per address */
const firstRead = new Map<string, string>()

function moduleAt(place: string, shown: string): Promise<PlugModule> {
  const url = pathToFileURL(place)
  const { mtimeMs, size } = statSync(place)
  const stamp = `${mtimeMs}-${size}`
  const first = firstRead.get(place) ?? stamp
  firstRead.set(place, first)
  if (stamp !== first) url.search = stamp
  return readModule(url.href, shown)
}
