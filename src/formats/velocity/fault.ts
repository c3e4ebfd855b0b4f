/** Defines the faults of templates: syntax errors and failed renderings. */
import { AppError } from '#kernel'

/** A position in a template: line and column from 1, in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

export class Fault extends Error {
  readonly kind: 'syntax' | 'failed' | 'limit'
  position: Position | undefined

  constructor(kind: Fault['kind'], message: string, position?: Position) {
    super(message)
    this.kind = kind
    this.position = position
  }
}

export function failed(message: string): Fault {
  return new Fault('failed', message)
}

const CODES = { syntax: 'TEMPLATE', failed: 'CONVERSION', limit: 'CONVERSION' } as const
const AROUND = 2
const MAX_LINE = 160

/** `TEMPLATE` for syntax errors, `CONVERSION` for failures; the issue's details contain the position. */
export function asAppError(fault: Fault, source: string): AppError {
  const { line, column } = fault.position ?? { line: 1, column: 1 }
  const where = `line ${line}, column ${column}`
  const issue = {
    path: '/template',
    type: fault.kind === 'syntax' ? 'TEMPLATE' : 'CONVERSION',
    message: `${where}: ${fault.message}`,
    severity: 'ERROR',
    details: { line, column, around: linesAround(source, { line, column }) },
  } as const
  return new AppError(CODES[fault.kind], `${fault.message} (${where})`, { issues: [issue], cause: fault })
}

export function linesAround(source: string, { line, column }: Position): readonly string[] {
  const lines = source.split(/\r\n|\r|\n/)
  const first = Math.max(1, line - AROUND)
  const last = Math.min(lines.length, line + AROUND)
  const width = String(last).length
  const shown: string[] = []
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1] ?? ''
    const from = number === line ? Math.max(0, column - MAX_LINE / 2) : 0
    shown.push(`${String(number).padStart(width)} | ${text.slice(from, from + MAX_LINE)}`)
    if (number === line) shown.push(`${' '.repeat(width)} | ${' '.repeat(Math.max(0, column - 1 - from))}^`)
  }
  return shown
}

export function positionOf(source: string, offset: number): Position {
  let line = 1
  let begin = 0
  for (let i = 0; i < offset && i < source.length; i++) {
    const char = source.charCodeAt(i)
    const isBreak = char === 10 || (char === 13 && source.charCodeAt(i + 1) !== 10)
    if (!isBreak) continue
    line++
    begin = i + 1
  }
  return { line, column: offset - begin + 1 }
}
