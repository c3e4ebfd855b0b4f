/** Runs rules without side effects in threads, and answers their plugs' calls to services. */
import type { PlugServices, Ports } from '#core'
import { AppError, type Logger } from '#kernel'
import { machineTimers, withRightsOfNow } from '#platform'
import type { Plug } from '#plug'
import type { DeployedPlug, InternalFunctions } from '#services/functions/contract'
import { historyAnswers, type InvocationReport, type RunsElsewhere } from '#services/rules'
import type { RulesContext, WorkInputs, WorkName } from './work-inputs.ts'
import type { ServiceRequest } from './work-messages.ts'
import type { WorkThreads } from './work-threads.ts'

class BoundedChannel<T extends object> implements AsyncIterable<T> {
  readonly #most: number
  readonly #waiting: T[] = []
  #over: { readonly error: Error | undefined } | undefined
  #wakeReader: () => void = () => undefined
  #wakeMaker: () => void = () => undefined

  /** `most`: capacity */
  constructor(most: number) {
    this.#most = most
  }

  put(value: T): Promise<void> | undefined {
    this.#waiting.push(value)
    this.#wakeReader()
    if (this.#waiting.length < this.#most) return undefined
    return new Promise((resolve) => (this.#wakeMaker = resolve))
  }

  /** Ends the channel; the reader receives the error after all values. */
  end(error?: Error): void {
    this.#over = { error }
    this.#wakeReader()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        this.#wakeMaker()
        yield next
      } else if (this.#over === undefined) {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve))
      } else if (this.#over.error === undefined) return
      else throw this.#over.error
    }
  }
}

export interface ThreadedRunsDependencies {
  readonly tenant: string
  readonly threads: WorkThreads
  readonly services: PlugServices
  readonly ports: Ports
  readonly deployed: () => readonly DeployedPlug[]
  readonly functions: () => Pick<InternalFunctions, 'call'> | undefined
  readonly plugs: Pick<ThreadPlugs, 'modules' | 'onlyHere' | 'failed'>
  readonly now: () => number
}

/** Time limit in ms; a run ends by itself after 20 s of work, plus the time it waits for plugs */
const RUN_MS = 60_000
/** Time limit in ms for the part of a rehearsal that covers some resources */
const REHEARSAL_MS = 600_000
const CHECK_MS = 20_000
const MAX_REPORTS = 1_000
const SECOND_MS = 1_000

type Method = (...args: readonly unknown[]) => unknown

export function threadedRuns(dependencies: ThreadedRunsDependencies): RunsElsewhere {
  const { tenant, threads, services, ports, deployed, functions, plugs, now } = dependencies
  const context = (): RulesContext => ({
    tenant,
    now: now(),
    services: methodsOf(services),
    ports: Object.keys(ports).filter((name) => name !== 'secret'),
    functions: deployed(),
    plugModules: plugs.modules,
  })
  const answers = ({ port, method, args }: ServiceRequest, signal: AbortSignal): unknown => {
    if (port === 'plugs') return plugs.failed(args[0] as string)
    if (port === 'functions') {
      const [name, version, params] = args as readonly [string, string, unknown]
      const served = functions()
      if (served === undefined) throw new AppError('PLUG_FAILED', 'this host does not serve functions')
      return served.call(name, version, params, { signal })
    }
    const of: unknown = port === 'engine' ? ports : services[port as keyof PlugServices]
    const asked = of as Readonly<Record<string, Method>>
    return asked[method]?.(...args, signal)
  }
  const work = async <Name extends WorkName, Answer>(
    name: Name,
    input: WorkInputs[Name],
    limitMs: number,
    more: { readonly answers?: typeof answers; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> => {
    const answering = withRightsOfNow(more.answers ?? answers)
    return (await threads.do({ tenant, name, input, limitMs, ...more, answers: answering })) as Answer
  }
  return {
    onlyHere: () => plugs.onlyHere,
    counted: (does) => threads.counted(tenant, does),
    simulate: (stored, input) => {
      const finding = (asked: ServiceRequest, signal: AbortSignal): unknown =>
        asked.port === 'templates' ? stored(asked.args[0] as string) : answers(asked, signal)
      return work('simulate', { ...context(), input }, RUN_MS, { answers: finding })
    },
    rehearse: (rehearsal, history, signal) => {
      const past = historyAnswers(history)
      const reading = (asked: ServiceRequest, called: AbortSignal): unknown =>
        asked.port === 'history' ? past.answer(asked.method, asked.args) : answers(asked, called)
      const given = { ...context(), work: rehearsal, keepsInputs: history.inputs !== undefined }
      const part = work('rehearse', given, REHEARSAL_MS, { answers: reading, ...(signal && { signal }) })
      return (part as ReturnType<RunsElsewhere['rehearse']>).finally(past.end)
    },
    async *run(stored, input, { signal, maxTps, ...options }) {
      // with `maxTps`, runs are slowed down here for the reader, not in the thread
      const reports = new BoundedChannel<InvocationReport>(maxTps === undefined ? MAX_REPORTS : Number.MAX_SAFE_INTEGER)
      const left = new AbortController()
      const isLeft = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal])
      const taking = (asked: ServiceRequest, called: AbortSignal): unknown =>
        asked.port === 'reports' ? reports.put(asked.args[0] as InvocationReport) : answers(asked, called)
      const given = { ...context(), stored, input, options }
      work('run', given, RUN_MS, { answers: taking, signal: isLeft }).then(
        () => reports.end(),
        (error: Error) => reports.end(error),
      )
      let isFirst = true
      try {
        for await (const report of reports) {
          if (!isFirst && maxTps !== undefined) await pause(SECOND_MS / maxTps, isLeft)
          if (isLeft.aborted) return
          isFirst = false
          yield report
        }
      } finally {
        left.abort()
      }
    },
    call: (family, name, version, input, cause) =>
      work('call', { ...context(), family, name, version, input, cause }, RUN_MS),
    check: (specification, options) => work('check', { ...context(), specification, options }, CHECK_MS),
    variables: (graph) => work('variables', { graph }, CHECK_MS),
    nextRuns: (expression, options) => work('schedule', { expression, options }, CHECK_MS),
  }
}

function methodsOf(services: PlugServices): RulesContext['services'] {
  return Object.fromEntries(
    Object.entries(services as Readonly<Record<string, object>>).map(([port, methods]) => [port, Object.keys(methods)]),
  )
}

/** Waits for `ms`, or until the reader is gone. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve) => {
    const cancel = machineTimers.later(ms, resolve)
    signal.addEventListener('abort', () => (cancel(), resolve()), { once: true })
  })
}

interface ThreadPlugsOptions {
  readonly plugs: () => readonly Plug[]
  /** Returns the module addresses: the same list until it changes. Absent: threads cannot load the plugs */
  readonly modules: (() => readonly string[]) | undefined
  readonly logger: Pick<Logger, 'warn'>
}

/** Provides the addresses of the operator's plug modules to threads, as long as threads can load them. */
export class ThreadPlugs {
  readonly #options: ThreadPlugsOptions
  #failed: readonly string[] | undefined

  constructor(options: ThreadPlugsOptions) {
    this.#options = options
  }

  /** Modules that a thread must load before it runs rules */
  get modules(): readonly string[] {
    const modules = this.#options.modules?.()
    return modules === undefined || modules === this.#failed ? [] : modules
  }

  get onlyHere(): readonly string[] {
    return this.modules.length > 0 ? [] : this.#options.plugs().map(({ name }) => name)
  }

  /**
   * Reports that threads failed to load the modules. Rules with these plugs then run in this thread until the modules
   * change.
   */
  failed(reason: string): void {
    this.#failed = this.#options.modules?.()
    this.#options.logger.warn(`plugs run on the main thread, since other threads failed to load them: ${reason}`)
  }
}
