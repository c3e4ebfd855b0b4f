/** Plugs that ES modules export, by the addresses of these: any thread can load them. */
import { messageOf, AppError } from '../kernel/errors.ts'
import { isPlainObject } from '../kernel/json.ts'
import type { Plug } from '../plug.ts'

/** Plugs and where they came from; the same lists until they are others. */
export interface ReadPlugs {
  readonly plugs: readonly Plug[]
  /** addresses of all modules */
  readonly modules: readonly string[]
}

/** Each once. `names`: of all exports. `PLUG` for a module that cannot be loaded; `shown`: how the error names it. */
export async function plugsOfModule(
  address: string,
  shown = address,
): Promise<{ readonly plugs: readonly Plug[]; readonly names: string }> {
  try {
    const module = (await import(address)) as Readonly<Record<string, unknown>>
    return { plugs: Object.values(module).flat().filter(isPlug), names: Object.keys(module).join(', ') }
  } catch (error) {
    throw new AppError('PLUG', `${shown}: the module cannot be loaded: ${messageOf(error)}`, { cause: error })
  }
}

function isPlug(value: unknown): value is Plug {
  if (!isPlainObject(value) || !Object.isFrozen(value)) return false
  const { kind, states, execute } = value
  return (kind === 'sensor' || kind === 'actuator') && Array.isArray(states) && typeof execute === 'function'
}
