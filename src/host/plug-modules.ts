/** Plugs of ES modules, identified by module addresses so that any thread can load them. */
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { Plug } from '#plug'

export interface PlugModule {
  readonly address: string
  readonly plugs: readonly Plug[]
  readonly names: string
}

/** Distinct plugs and their module addresses; the same lists until they change. */
export interface ReadPlugs {
  readonly plugs: readonly Plug[]
  readonly modules: readonly string[]
}

/** Throws `PLUG` when the module cannot be loaded. `shown`: its name in the error. */
export async function readModule(address: string, shown = address): Promise<PlugModule> {
  try {
    const module = (await import(address)) as Readonly<Record<string, unknown>>
    return { address, plugs: Object.values(module).flat().filter(isPlug), names: Object.keys(module).join(', ') }
  } catch (error) {
    throw new AppError('PLUG', `${shown}: the module cannot be loaded: ${messageOf(error)}`, { cause: error })
  }
}

function isPlug(value: unknown): value is Plug {
  if (!isPlainObject(value) || !Object.isFrozen(value)) return false
  const { kind, states, execute } = value
  return (kind === 'sensor' || kind === 'actuator') && Array.isArray(states) && typeof execute === 'function'
}
