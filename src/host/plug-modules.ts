/** Plugs that ES modules export, by the addresses of these: any thread can load them. */
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { Plug } from '#plug'

export interface PlugModule {
  readonly address: string
  readonly plugs: readonly Plug[]
  /** of all exports */
  readonly names: string
}

/** Plugs, each once, and the addresses of their modules; the same lists until they are others. */
export interface ReadPlugs {
  readonly plugs: readonly Plug[]
  readonly modules: readonly string[]
}

/** `PLUG` when it cannot be loaded. `shown`: how the error names it. */
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
