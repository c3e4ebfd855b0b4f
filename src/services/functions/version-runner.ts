/** How the versions of a type are built, deployed and asked: the port of the jobs, and what runs those in processes. */
import { AppError, isPlainObject } from '#kernel'
import type { BuildResult } from './build.ts'
import { BuildRefusal } from './build-refusal.ts'
import { type FunctionCaller, runtimeOf } from './function-caller.ts'
import type { FunctionId, FunctionRecord } from './function-record.ts'
import type { Assets } from './registry/archive.ts'
import type { PlugDeclaration } from './runtimes/plug-call.ts'

/** What rejects with a BuildRefusal is wrong with the version: another attempt is useless. */
export interface VersionRunner {
  build(record: FunctionRecord, assets: Assets): Promise<BuildResult>
  deploy(record: FunctionRecord): Promise<void>
  /** Asks it. A text: it has answered, and this is wrong with it. Rejects when it has not. */
  ask(record: FunctionRecord, signal: AbortSignal): Promise<string | undefined>
  /** Its record says that it has answered. */
  verified(id: FunctionId): Promise<void>
  /** Nothing runs of it until it is called. */
  rest(record: FunctionRecord): Promise<void>
  /** Its record is gone, or says that it is not deployed. */
  ended(id: FunctionId): Promise<void>
  /** What its metadata says is something else now. */
  described(record: FunctionRecord): Promise<void>
  /** The last lines that it wrote. */
  lines(record: FunctionRecord): readonly string[]
}

/** Versions that run in processes of this service. */
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

  verified(): Promise<void> {
    return Promise.resolve()
  }

  rest(record: FunctionRecord): Promise<void> {
    return this.#caller.release(record)
  }

  ended(): Promise<void> {
    return Promise.resolve()
  }

  described(): Promise<void> {
    return Promise.resolve()
  }

  lines(record: FunctionRecord): readonly string[] {
    return this.#caller.lines(record).map(({ text }) => text)
  }
}

/** How the code differs from its manifest; undefined: it does not. */
function mismatch({ type, manifest }: FunctionRecord, answer: unknown): string | undefined {
  if (type !== 'plugs') return undefined
  // it is material to judge: only equal texts count
  const declared = (isPlainObject(answer) ? answer : {}) as PlugDeclaration
  const { states = [], input = [] } = manifest.interface ?? {}
  const sides: readonly (readonly [string, unknown, unknown])[] = [
    ['type', declared.type, manifest.type],
    ['states', declared.states && [...declared.states].sort(), [...states].sort()],
    ['input', declared.input && [...declared.input].sort(), input.map((one) => one.name).sort()],
  ]
  const wrong = sides.find(([, own, said]) => own !== undefined && JSON.stringify(own) !== JSON.stringify(said))
  if (wrong === undefined) return undefined
  const [what, own, said] = wrong
  return `its ${what} is ${JSON.stringify(own)} in the code and ${JSON.stringify(said)} in plug.json`
}
