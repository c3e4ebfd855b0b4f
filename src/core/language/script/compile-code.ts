/** Compiles code of a rule to closures, or for the sandbox if it is other JavaScript, with the same results. */
import { AppError, validationError } from '#kernel'
import { compileCondition } from '../expression/condition.ts'
import { compileExpression, MAX_EXPRESSION } from '../expression/expression.ts'
import { numberOfCode, type NumberReading } from '../expression/number.ts'
import { positionIn } from '../expression/parse.ts'
import type { Problem } from '../expression/source.ts'
import { drawSeed, unknown } from '../expression/run.ts'
import { truthOf } from '../expression/values.ts'
import type { LogicPath } from '../logic/run.ts'
import type { PlugLog } from '../../plug/plug.ts'
import type { Sandbox, ScriptLine, ScriptResult } from './sandbox.ts'
import { valuesOf } from './encoded-values.ts'
import { compileScriptExpression, type ScriptExpression, type Wanted } from './script-expression.ts'
import { zoneOffsets } from './zone-offsets.ts'

/** What code may use of a call in addition to values, such as a `PlugContext`. */
export interface CodeContext {
  /** in [0, 1): source of `Math.random`, called once per evaluation */
  random(): number
  readonly log: PlugLog
}

export interface CompiledCode<T> {
  readonly uses: readonly LogicPath[]
  /**
   * Throws or rejects with `BINDING` for a missing value, `TOO_LARGE` at a limit, `PLUG_FAILED` for the code's error.
   */
  evaluate(lookup: Lookup, now: number, around: CodeContext): T | Promise<T>
}

type Lookup = (path: LogicPath) => unknown

const WITH_CHANCE = { chance: true } as const

/** Throws `VALIDATION` with columns if neither closures nor the sandbox can run it. */
export function compileCode(text: string, sandbox: Sandbox): CompiledCode<unknown> {
  return evaluatorOrSandbox(
    text,
    () => compileExpression(text, WITH_CHANCE),
    (script) => inSandbox(script, sandbox, (value) => value),
    'value',
  )
}

/** Compiles a condition: JSON Logic, or code whose value counts as true or false. Throws `VALIDATION`. */
export function compileConditionCode(source: unknown, sandbox: Sandbox): CompiledCode<boolean> {
  const closures = () => {
    const { uses, holds } = compileCondition(source, WITH_CHANCE)
    return { uses, evaluate: holds }
  }
  return evaluatorOrSandbox(source, closures, (script) => inSandbox(script, sandbox, truthOfCode), 'truth')
}

function truthOfCode(value: unknown): boolean {
  return truthOf(value, 'the value of the code')
}

export function compileNumberCode(text: string, sandbox: Sandbox): CompiledCode<NumberReading> {
  const closures = (): CompiledCode<NumberReading> => {
    const { uses, measure } = compileExpression(text, WITH_CHANCE)
    return {
      uses,
      evaluate(lookup, now, around) {
        const { value, slack } = measure(lookup, now, around)
        return { number: numberOfCode(text, value), slack }
      },
    }
  }
  // the sandbox returns a number as text in a list, since JSON has neither NaN nor Infinity
  const read = (value: unknown) => {
    const number = numberOfCode(text, Array.isArray(value) ? Number(value[0]) : value)
    return { number, slack: 0 }
  }
  return evaluatorOrSandbox(text, closures, (script) => inSandbox(script, sandbox, read), 'number')
}

/** Returns what sandboxed code reads; undefined if the sandbox cannot run it. */
export function sandboxedUses(text: string): readonly LogicPath[] | undefined {
  if (text.length > MAX_EXPRESSION) return undefined
  const compiled = compileScriptExpression(text, 'value')
  return 'problems' in compiled ? undefined : compiled.uses
}

function evaluatorOrSandbox<T>(
  source: unknown,
  closures: () => CompiledCode<T>,
  sandboxed: (script: ScriptExpression) => CompiledCode<T>,
  wanted: Wanted,
): CompiledCode<T> {
  try {
    return closures()
  } catch (error) {
    if (typeof source !== 'string' || source.trim() === '' || source.length > MAX_EXPRESSION) throw error
    if (!(error instanceof AppError)) throw error
    const script = compileScriptExpression(source, wanted)
    if (!('problems' in script)) return sandboxed(script)
    throw further(source, error, script.problems)
  }
}

/** Returns the error that is later in the text, since its parser understood more. */
function further(text: string, closures: AppError, problems: readonly Problem[]): AppError {
  const [first] = problems
  if (first === undefined) return closures
  const before = closures.issues.map(({ details }) => [Number(details?.['line']), Number(details?.['column'])] as const)
  const { line, column } = positionIn(text, first.at)
  if (before.some(([l, c]) => l > line || (l === line && c >= column))) return closures
  const issues = problems.slice(0, 20).map(({ at, message, suggestion }) => {
    const position = positionIn(text, at)
    return {
      path: '',
      message: `${position.words}: ${message}`,
      suggestion,
      severity: 'ERROR' as const,
      type: 'EXPRESSION',
      details: { line: position.line, column: position.column },
    }
  })
  return validationError('the expression', issues)
}

function inSandbox<T>(script: ScriptExpression, sandbox: Sandbox, read: (value: unknown) => T): CompiledCode<T> {
  const { code, uses, hasChance } = script
  const offsets = script.zones.map((zone) => [zone, zoneOffsets(zone)] as const)
  const valueOf = ({ value }: ScriptResult): T => {
    const answer = value as { readonly value?: unknown; readonly missing?: string; readonly was?: string }
    const { missing, was } = answer
    if (missing !== undefined)
      throw unknown(missing, was === undefined ? undefined : was === 'null' ? null : Number(was))
    return read(answer.value)
  }
  return {
    uses,
    evaluate(lookup, now, around) {
      const input = {
        now,
        seed: hasChance ? drawSeed(around) : 0,
        values: valuesOf(uses, lookup),
        zones: Object.fromEntries(offsets.map(([zone, spanAt]) => [zone, spanAt(now)])),
      }
      const result = sandbox.runCode(code, input, (line) => writeLine(around.log, line))
      return result instanceof Promise ? result.then(valueOf) : valueOf(result)
    },
  }
}

export function writeLine(log: PlugLog, { level, message }: ScriptLine): void {
  if (level === 'DEBUG') log.debug(message)
  else if (level === 'WARN') log.warn(message)
  else if (level === 'ERROR') log.error(message)
  else log.info(message)
}
