/** Compiles texts with placeholders to plans of fixed and variable parts. */
import { AppError } from '#kernel'
import { wholeBinding, type Binding, type ParsedText } from './binding.ts'
import { explainMissing, readPath } from './read-path.ts'
import type { Path, Scope } from './scope.ts'

export type Plan =
  | { readonly constant: true; readonly value: unknown }
  | {
      readonly constant: false
      readonly evaluate: (scope: Scope) => unknown
      readonly path?: Path
    }

/** A single `${}` keeps the type of its value; everything else results in a text. */
export function planText(parsed: ParsedText, pointer: string): Plan {
  const only = wholeBinding(parsed)
  if (only && !only.json)
    return { constant: false, evaluate: (scope) => valueOf(only, pointer, scope), path: only.path }
  const { parts } = parsed
  if (parts.every((part) => typeof part === 'string')) return { constant: true, value: parts.join('') }
  return {
    constant: false,
    evaluate(scope) {
      let text = ''
      for (const part of parts) text += typeof part === 'string' ? part : insertedText(part, pointer, scope)
      return text
    },
  }
}

/** Returns a value as it appears inside a text: texts bare, everything else as JSON. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : jsonText(value)
}

/** Returns the value as JSON. Throws `BINDING` for values that JSON cannot represent. */
export function jsonText(value: unknown): string {
  let text: string | undefined
  let cause: unknown
  try {
    text = JSON.stringify(value)
  } catch (error) {
    cause = error
  }
  if (text === undefined) {
    throw new AppError('BINDING', `a ${typeof value} cannot be written as JSON; use plain JSON data without cycles`, {
      cause,
    })
  }
  return text
}

function insertedText(binding: Binding, pointer: string, scope: Scope): string {
  const value = valueOf(binding, pointer, scope)
  if (value === undefined) return ''
  return binding.json ? jsonText(value) : plainText(value)
}

function valueOf(binding: Binding, pointer: string, scope: Scope): unknown {
  const { optional, path } = binding
  // Optional reads do not fall back to values of earlier messages.
  if (optional && path.root === 'streamdata' && !scope.isNew(path.segments[0] ?? '')) return undefined
  const value = readPath(path, scope)
  if (value === undefined && !optional) throw missing(binding, pointer, scope)
  return value
}

function missing(binding: Binding, pointer: string, scope: Scope): AppError {
  const { message, suggestion } = explainMissing(binding.path, scope)
  const text = `${binding.text} has no value: ${message}`
  return new AppError('BINDING', `${pointer || '/'}: ${text}; ${suggestion}`, {
    issues: [
      {
        path: pointer,
        message: text,
        suggestion,
        severity: 'ERROR',
        type: 'BINDING',
        details: { binding: binding.text },
      },
    ],
  })
}
