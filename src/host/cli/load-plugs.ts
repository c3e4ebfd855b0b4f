/** The plugs that a command works with: built-in ones, and those of files that the user names. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createBuiltins } from '../../../plugins/index.ts'
import type { Plug } from '../../core/plug/plug.ts'
import { AppError, messageOf } from '../../kernel/errors.ts'
import { isPlainObject } from '../../kernel/json.ts'

/**
 * The built-in plugs and those that ES modules export, each by name, as default, or in a list.
 * Throws `NOT_FOUND` for a file that is not there, and `PLUG` for one that cannot be loaded or has no plug.
 */
export async function loadPlugs(files: readonly string[]): Promise<readonly Plug[]> {
  // callURL stays offline: a simulation must not call anybody unless somebody asks for it
  const plugs = new Set<Plug>(createBuiltins({ clock: () => performance.now() }))
  for (const file of files) for (const plug of await plugsOf(file)) plugs.add(plug)
  return [...plugs]
}

async function plugsOf(file: string): Promise<readonly Plug[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new AppError('NOT_FOUND', `${file}: there is no such file; --plugs takes an ES module`)
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new AppError('PLUG', `${file}: the module cannot be loaded: ${messageOf(error)}`, { cause: error })
  }
  const plugs = Object.values(module).flat().filter(isPlug)
  if (plugs.length > 0) return plugs
  const names = Object.keys(module).join(', ') || 'nothing'
  throw new AppError('PLUG', `${file}: no plug among its exports (${names}); export what definePlug gives`)
}

function isPlug(value: unknown): value is Plug {
  if (!isPlainObject(value) || !Object.isFrozen(value)) return false
  const { kind, states, execute } = value
  return (kind === 'sensor' || kind === 'actuator') && Array.isArray(states) && typeof execute === 'function'
}
