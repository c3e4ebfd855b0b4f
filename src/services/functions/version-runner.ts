/** Builds, deploys and checks versions of a type: the port for jobs, and its implementation with processes. */
import { AppError, isPlainObject } from '#kernel'
import type { BuildResult } from './build.ts'
import { BuildRefusal } from './build-refusal.ts'
import { type FunctionCaller, runtimeOf } from './function-caller.ts'
import type { FunctionId, FunctionRecord } from './function-record.ts'
import type { Assets } from './registry/archive.ts'
import type { PlugDeclaration } from './runtimes/plug-call.ts'

/** Runs versions of one type. Throwing a BuildRefusal prevents further attempts. */
export interface VersionRunner {
  build(record: FunctionRecord, assets: Assets): Promise<BuildResult>
  deploy(record: FunctionRecord): Promise<void>
  /** Calls a version. Returns a problem with its response; rejects when the version did not respond. */
  ask(record: FunctionRecord, signal: AbortSignal): Promise<string | undefined>
  verified?(id: FunctionId): Promise<void>
  /** Ends the processes of a version until its next call. */
  rest(record: FunctionRecord): Promise<void>
  ended?(id: FunctionId): Promise<void>
  described?(record: FunctionRecord): Promise<void>
  lines?(record: FunctionRecord): readonly string[]
}

export class ProcessRunner implements VersionRunner {
  readonly #caller: FunctionCaller

  constructor(caller: FunctionCaller) {
    this.#caller = caller
  }

  build(record: FunctionRecord, assets: Assets): Promise<BuildResult> {
    return this.#caller.build(record, assets)
  }

  async deploy(record: FunctionRecord): Promise<void> {
    const problem = await this.#caller.problem(runtimeOf(record))
    if (problem !== undefined) throw new BuildRefusal(problem)
    try {
      await this.#caller.secretsOf(record)
    } catch (error) {
      if (error instanceof AppError && error.code === 'PLUG_FAILED') throw new BuildRefusal(error.message)
      throw error
    }
    await this.#caller.ensureBuilt(record)
  }

  async ask(record: FunctionRecord, signal: AbortSignal): Promise<string | undefined> {
    return mismatch(record, await this.#caller.call(record, 'declare', {}, { signal }))
  }

  rest(record: FunctionRecord): Promise<void> {
    return this.#caller.release(record)
  }

  lines(record: FunctionRecord): readonly string[] {
    return this.#caller.lines(record).map(({ text }) => text)
  }
}

function mismatch({ type, manifest }: FunctionRecord, answer: unknown): string | undefined {
  if (type !== 'plugs') return undefined
  // the response is untrusted, so only exactly equal texts count
  const declared = (isPlainObject(answer) ? answer : {}) as PlugDeclaration
  const { states = [], input = [] } = manifest.interface ?? {}
  const sides: readonly (readonly [string, unknown, unknown])[] = [
    ['type', declared.type, manifest.type],
    ['states', declared.states && [...declared.states].sort(), [...states].sort()],
    ['input', declared.input && [...declared.input].sort(), input.map((one) => one.name).sort()],
  ]
  const wrong = sides.find(
    ([, actual, expected]) => actual !== undefined && JSON.stringify(actual) !== JSON.stringify(expected),
  )
  if (wrong === undefined) return undefined
  const [what, actual, expected] = wrong
  return `its ${what} is ${JSON.stringify(actual)} in the code and ${JSON.stringify(expected)} in plug.json`
}
