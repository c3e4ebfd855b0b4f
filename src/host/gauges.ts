/** Collects figures from services for /metrics. Calls are cheap; totals count from the start of the process. */
export interface Gauges {
  /** Records how many ms one call of an asynchronous plug took */
  plugTook(ms: number): void
  watchWork(read: () => Work): void
  watchWays(read: () => Ways): void
  watchTasks(read: () => ByStatus | Promise<ByStatus>): void
  watchQueue(name: string, read: () => number): void
  watchTotal(name: string, read: () => number): void
  watchReadings(reason: ReadingReason, read: () => number): void
  watchKept(read: () => Kept): void
  watchConnectors(read: () => ConnectorFigures): void
  watchClock(read: () => ClockFigures): void
  watchByTenant(figure: TenantFigure, read: () => ByTenant | Promise<ByTenant>): void
  watchMqttClients(read: () => number): void
  /** `read`: bytes on disk by store */
  watchStored(read: () => Promise<ByStatus>): void
  /** `read`: the end of the host's certificate, epoch ms; undefined: it has none */
  watchCertificate(read: () => number | undefined): void
  watchCommits(read: () => { readonly commits: number; readonly lastCommitMs: number }): void
}

/** older than an accepted one; a duplicate; older than its task's time; dropped from memory; an impossible timestamp */
export type ReadingReason = 'late' | 'duplicate' | 'skewed' | 'forgotten' | 'badTime'

/** Difference between the host's time and the machine's clock, in ms. */
export interface ClockFigures {
  readonly leadMs: number
  /** Unconfirmed forward step of the machine's clock */
  readonly unconfirmedMs: number
}

export interface Work {
  readonly inputs: number
  /** Messages, timers, commands and late answers, counted once per task */
  readonly steps: number
  readonly firings: number
  readonly held: number
  readonly dropped: number
}

/** Messages per path, counted once per task, since the start of the process. */
export interface Ways {
  readonly vectorized: number
  readonly rows: number
  readonly why: Readonly<Record<string, number>>
}

/** Size and age of the stored task inputs. `oldest`: epoch ms; undefined: none are stored */
export interface Kept {
  readonly bytes: number
  readonly messages: number
  readonly oldest: number | undefined
}

/** Records that wait for connectors, and totals since the start of the process. */
export interface ConnectorFigures {
  readonly lag: number
  readonly accepted: number
  readonly rejected: number
  readonly retried: number
}

/** `deliveries`: totals by status; `alarms`: open ones by severity; `alarmFigures`: recent, standing and stale ones */
export type TenantFigure = 'deliveries' | 'alarms' | 'alarmFigures'

/** Numbers of one figure by the value of its label, for each tenant. */
export type ByTenant = ReadonlyMap<string, ByStatus>

export type ByStatus = Readonly<Record<string, number>>
