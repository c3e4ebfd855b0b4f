/** Defines the field types of plugs, and converts values to these types. */
import { isPlainObject, jsonProblem, numberOfText, parsePlainJson } from '#kernel'
import type { FieldType } from './plug.ts'

interface TypeRule {
  noun: string
  example: unknown
  fits(value: unknown): boolean
  /** converts a value of another type; `undefined` when impossible */
  convert(value: unknown): unknown
}

const text: TypeRule = {
  noun: 'text',
  example: 'some text',
  fits: (value) => typeof value === 'string',
  convert: textOf,
}
const decimal: TypeRule = {
  noun: 'a number',
  example: 21.5,
  fits: (value) => Number.isFinite(value),
  convert: numberOfText,
}
const whole: TypeRule = {
  noun: 'a whole number',
  example: 42,
  fits: (value) => Number.isSafeInteger(value),
  convert: (value) => {
    const number = numberOfText(value)
    return Number.isSafeInteger(number) ? number : undefined
  },
}

export const FIELD_TYPES: Readonly<Record<FieldType, TypeRule>> = {
  string: text,
  integer: whole,
  long: whole,
  float: decimal,
  double: decimal,
  boolean: {
    noun: 'true or false',
    example: true,
    fits: (value) => typeof value === 'boolean',
    convert: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  },
  object: {
    noun: 'an object',
    example: { key: 'value' },
    fits: isPlainObject,
    convert: (value) => parsed(value, isPlainObject),
  },
  array: { noun: 'an array', example: [1, 2], fits: Array.isArray, convert: (value) => parsed(value, Array.isArray) },
  json: {
    noun: 'an object or an array',
    example: { key: 'value' },
    fits: isObjectOrArray,
    convert: (value) => parsed(value, isObjectOrArray),
  },
  any: { noun: 'a value', example: 42, fits: (value) => value !== undefined, convert: () => undefined },
}

function isObjectOrArray(value: unknown): boolean {
  return isPlainObject(value) || Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  // Plain JSON only: a cycle would throw, and a date would lose its type silently.
  const list = Array.isArray(value) || isPlainObject(value)
  return list && jsonProblem(value) === undefined ? JSON.stringify(value) : undefined
}

function parsed(value: unknown, fits: (value: unknown) => boolean): unknown {
  if (typeof value !== 'string') return undefined
  try {
    const result = parsePlainJson(value)
    return fits(result) ? result : undefined
  } catch {
    return undefined
  }
}
