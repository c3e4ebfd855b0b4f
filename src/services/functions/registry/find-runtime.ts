/** Which runtime and which version of it a manifest means. */
import { AppError } from '#kernel'
import { type FunctionType, TYPE_NAMES } from '../function-type.ts'
import { isInRange } from './versions.ts'
import { type Runtime, RUNTIMES } from '../runtimes/catalog.ts'

/** A runtime at one of its versions. */
export interface ChosenRuntime extends Runtime {
  readonly version: string
}

/** The newest version that fits. `VALIDATION` without one. */
export function findRuntime(
  type: FunctionType,
  { runtime, runtimeVersion = '*' }: { readonly runtime: string; readonly runtimeVersion?: string | undefined },
): ChosenRuntime {
  const found = RUNTIMES.get(runtime)
  if (found?.functionType !== type) {
    const known = [...RUNTIMES.values()].flatMap((one) => (one.functionType === type ? [one.name] : []))
    const names = known.join(', ') || 'none'
    throw new AppError(
      'VALIDATION',
      `there is no runtime ${runtime.slice(0, 100)} for a ${TYPE_NAMES[type].noun}; there are ${names}`,
    )
  }
  const chosen = found.versions.find(({ version }) => isInRange(version, runtimeVersion))
  if (chosen === undefined)
    throw new AppError('VALIDATION', `${runtime} has no version ${runtimeVersion.slice(0, 100)}`)
  return { ...found, version: chosen.version }
}
