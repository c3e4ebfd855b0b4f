import { AppError, compileLogic, type CompiledLogic, isPlainObject, parsePlainJson, type Path } from '../../src/plug.ts'

/** Shown wherever a condition is expected and something else was found. */
export const EXAMPLE = { '>': [{ var: 'temperature' }, 25] }

export interface Condition {
  readonly logic: CompiledLogic
  /** the paths that it reads, in the form that the context takes; made once, as they are asked for on every run */
  readonly paths: ReadonlyMap<Path, readonly string[]>
}

/** A condition from a JSON Logic object or from its JSON text. Throws `VALIDATION`. */
export function compileCondition(given: unknown): Condition {
  const object = typeof given === 'string' ? parsed(given) : given
  // JSON Logic takes anything but an object of one operator as plain data, which would be a condition that never changes.
  if (!isPlainObject(object) || Object.keys(object).length !== 1) {
    throw new AppError(
      'VALIDATION',
      `a condition is a JSON Logic object with one operator, such as ${JSON.stringify(EXAMPLE)}`,
    )
  }
  const logic = compileLogic(object)
  return { logic, paths: new Map(logic.uses.map((path) => [path, pathOf(path)])) }
}

export function pathOf(path: Path): readonly string[] {
  return [path.root, ...path.segments]
}

/** Truth as JSON Logic has it: an empty array is false, the text "0" is true. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

function parsed(text: string): unknown {
  try {
    return parsePlainJson(text)
  } catch {
    return undefined
  }
}
