/** Loads plugs from ES modules by their addresses, so that any thread can load the same plugs. */
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { Plug } from '#plug'

export interface PlugModule {
  readonly address: string
  readonly plugs: readonly Plug[]
  readonly names: string
}

/** Distinct plugs and the addresses of their modules; both lists stay the same objects until a plug changes. */
export interface ReadPlugs {
  readonly plugs: readonly Plug[]
  readonly modules: readonly string[]
}

/** Loads a module. Throws `PLUG` when that fails. `shown`: the module's name in the error. */
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
