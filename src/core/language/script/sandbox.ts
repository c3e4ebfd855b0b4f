/**
 * Runs scripts in a sandbox: a JavaScript interpreter (QuickJS as WebAssembly, so it also runs in a browser), fresh for
 * each run, with JSON in and JSON out.
 *
 * SANDBOX-1 The inside has no object of the host, and no clock, network, file, timer or randomness except from the
 *   input.
 * SANDBOX-2 Steps, memory, stack, input, output and log are bounded, by counts and not by time: equal runs end equally.
 * SANDBOX-3 A run that breaks the interpreter costs only the interpreter: the next run loads another one.
 * SANDBOX-4 Runs wait only while an interpreter is loaded, or for an interpreter in another thread.
 */
import variant from '@jitl/quickjs-singlefile-browser-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { AppError, messageOf, parsePlainJson } from '#kernel'
import { PRELUDE } from './prelude.ts'
import { compileScript } from './script-source.ts'

const LIMITS = ['too much work', 'too deep', 'out of memory', 'stack overflow', 'invalid string length']

/** Input of a script, passed as `options`. `now` (epoch ms) and `seed` provide its clock and its randomness. */
export interface ScriptInput {
  readonly now: number
  readonly seed: number
  /** rejects values that JSON would change silently, such as NaN, and returns `options.internalState` */
  readonly strict?: boolean
  readonly [key: string]: unknown
}

export interface ScriptLine {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  readonly message: string
}

export type WriteLine = (line: ScriptLine) => void

export interface ScriptResult {
  /** plain JSON; null if the script returned nothing */
  readonly value: unknown
  /** only for a strict run: the final `options.internalState` as plain JSON; undefined: none, before and after */
  readonly memory: unknown
  readonly log: readonly ScriptLine[]
}

const MAX_JSON = 1_000_000
const MAX_MEMORY = 8_388_608
const MAX_STACK = 131_072
/** Maximum number of times that the interpreter may ask to continue, which it does about every 10,000 steps. */
const MAX_QUESTIONS = 1000
/** Maximum duration of a run in ms, if the host provides a clock. */
const MAX_MS = 1000

export interface Interpreter {
  /** Throws or rejects with `TOO_LARGE` for an interrupted run. */
  answer(code: string, input: string): string | Promise<string>
}

/** Synchronous, except while the interpreter is loaded: for the first run and after a run that broke it. */
export class LocalInterpreter implements Interpreter {
  #module: QuickJSWASMModule | undefined
  #loading: Promise<void> | undefined
  readonly #elapsed: (() => number) | undefined

  /** `elapsed`: a clock of the host in ms, which interrupts a run after a second regardless of its counts. */
  constructor(elapsed?: () => number) {
    this.#elapsed = elapsed
  }

  answer(code: string, input: string): string | Promise<string> {
    if (this.#module === undefined) return this.#load().then(() => this.answer(code, input))
    try {
      return converse(this.#module, code, input, this.#elapsed)
    } catch (error) {
      // an interrupted run keeps its memory, so the next run needs another interpreter
      this.#module = undefined
      throw error instanceof AppError ? error : broken(error)
    }
  }

  #load(): Promise<void> {
    this.#loading ??= newQuickJSWASMModuleFromVariant(variant)
      .then(
        (module) => void (this.#module = module),
        (error: unknown) => {
          throw broken(error)
        },
      )
      .finally(() => (this.#loading = undefined))
    return this.#loading
  }
}

export class Sandbox {
  readonly #interpreter: Interpreter

  /** `elapsed`: clock of the default interpreter; an injected interpreter has its own. */
  constructor(elapsed?: () => number, interpreter: Interpreter = new LocalInterpreter(elapsed)) {
    this.#interpreter = interpreter
  }

  /**
   * The returned, promised or sent value, whichever is first. Rejects with `VALIDATION`, `PLUG_FAILED` or `TOO_LARGE`.
   */
  async run(source: string, input: ScriptInput): Promise<ScriptResult> {
    return this.runCode(compileScript(source).code, input)
  }

  /** `write` also receives the lines of a failing script. Synchronous if the interpreter is. */
  runCode(code: string, input: ScriptInput, write?: WriteLine): ScriptResult | Promise<ScriptResult> {
    const json = JSON.stringify(input)
    if (json.length > MAX_JSON) {
      throw new AppError('TOO_LARGE', `the data of the script has ${json.length} characters, more than ${MAX_JSON}`)
    }
    const answer = this.#interpreter.answer(code, json)
    return answer instanceof Promise ? answer.then((text) => resultOf(text, write)) : resultOf(answer, write)
  }
}

function broken(error: unknown): AppError {
  return new AppError('TOO_LARGE', `the interpreter of the script failed: ${messageOf(error)}; simplify the script`, {
    cause: error,
  })
}

/** Returns the envelope's JSON. Every error is thrown; the interpreter is then left to garbage collection. */
function converse(module: QuickJSWASMModule, code: string, input: string, elapsed?: () => number): string {
  const runtime = module.newRuntime()
  runtime.setMemoryLimit(MAX_MEMORY)
  runtime.setMaxStackSize(MAX_STACK)
  let questions = 0
  const end = (elapsed?.() ?? 0) + MAX_MS
  runtime.setInterruptHandler(() => ++questions > MAX_QUESTIONS || (elapsed?.() ?? 0) > end)
  const context = runtime.newContext({
    intrinsics: {
      BaseObjects: true,
      Date: true,
      Eval: true,
      RegExpCompiler: true,
      RegExp: true,
      JSON: true,
      MapSet: true,
      Promise: true,
    },
  })
  const answer = runIn(context, code, input)
  context.dispose()
  runtime.dispose()
  return answer
}

function runIn(context: QuickJSContext, code: string, input: string): string {
  const parts = unwrap(context, context.evalCode(PRELUDE, 'prelude.js'))
  const start = context.getProp(parts, 0)
  const finish = context.getProp(parts, 1)
  const script = unwrap(context, context.evalCode(code, 'script.js'))
  const json = context.newString(input)
  unwrap(context, context.callFunction(start, context.undefined, script, json)).dispose()
  const jobs = context.runtime.executePendingJobs()
  if (jobs.error) throw failure(jobs.error.context, jobs.error)
  const text = unwrap(context, context.callFunction(finish, context.undefined))
  const answer = context.getString(text)
  for (const handle of [parts, start, finish, script, json, text]) handle.dispose()
  return answer
}

function resultOf(answer: string, write: WriteLine | undefined): ScriptResult {
  if (answer.length > 2 * MAX_JSON)
    throw new AppError('TOO_LARGE', `the result of the script has more than ${MAX_JSON} characters`)
  const [ok, value, log, memory] = JSON.parse(answer) as [boolean, string, readonly ScriptLine[], (string | null)?]
  if (write) for (const line of log) write(line)
  if (!ok) {
    // without memory even the text of the error is missing
    const isLimit = value === 'null' || LIMITS.some((text) => value.includes(text))
    throw new AppError(isLimit ? 'TOO_LARGE' : 'PLUG_FAILED', `the script failed: ${value}`)
  }
  try {
    const kept = memory === undefined || memory === null ? undefined : parsePlainJson(memory)
    return { value: parsePlainJson(value), memory: kept, log }
  } catch (error) {
    throw new AppError('PLUG_FAILED', `the result of the script is invalid: ${messageOf(error)}`, { cause: error })
  }
}

type EvaluationResult = ReturnType<QuickJSContext['evalCode']>

function unwrap(context: QuickJSContext, result: EvaluationResult): QuickJSHandle {
  if (result.error) throw failure(context, result.error)
  return result.value
}

/** Converts the interpreter's own errors, such as "interrupted"; errors of scripts are in the envelope. */
function failure(context: QuickJSContext, error: QuickJSHandle): AppError {
  const dumped: unknown = context.dump(error)
  const { message } = dumped as { message?: unknown }
  error.dispose()
  const reasons: Readonly<Record<string, string>> = {
    interrupted: 'it takes too many steps',
    'out of memory': `it needs more than ${MAX_MEMORY} bytes`,
    'stack overflow': 'its calls nest too deep',
  }
  const text = typeof message === 'string' ? message.slice(0, 200) : 'unknown'
  return new AppError('TOO_LARGE', `the script was stopped: ${reasons[text] ?? text}`)
}
