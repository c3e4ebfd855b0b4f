import { AppError, compileLogic, type CompiledLogic, isPlainObject, parsePlainJson } from '../../src/plug.ts'

/** Shown wherever a condition is expected and something else was found. */
export const EXAMPLE = { '>': [{ var: 'temperature' }, 25] }

/** A condition from a JSON Logic object or from its JSON text. Throws `VALIDATION`. */
export function compileCondition(given: unknown): CompiledLogic {
  const object = typeof given === 'string' ? parsed(given) : given
  // JSON Logic takes anything but an object of one operator as plain data, which would be a condition that never changes.
  if (!isPlainObject(object) || Object.keys(object).length !== 1) {
    throw new AppError(
      'VALIDATION',
      `a condition is a JSON Logic object with one operator, such as ${JSON.stringify(EXAMPLE)}`,
    )
  }
  return compileLogic(object)
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
