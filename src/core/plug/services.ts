/**
 * Declares the services that plugs may use, passed to `createBuiltins({ services })`. A host passes each tenant's own
 * services, so that a plug never reaches another tenant.
 *
 * The interfaces hide HTTP, paging and wire formats. Results are plain JSON in the shapes of the services; errors are
 * AppErrors.
 */
import type { Issue } from '#kernel'

/** Cause of a request. Services store it, so that chains of rules can be shown and stopped. */
export interface Cause {
  readonly task: string
  readonly node: string
  /** id of the execution; a repeated request uses the same id */
  readonly effect: string
  readonly trigger?: string
  /** number of rules in the chain; services reject requests above their limit */
  readonly hops: number
  /** id of the message or event that began the chain; services pass it on together with the hops. Absent: unknown */
  readonly root?: string
  /**
   * true: the effect id does not imply an order, so services neither reject the request as superseded nor record the id
   */
  readonly unordered?: boolean
}

/** A problem that a service would report; `path` is a JSON pointer into the body. */
export type BodyIssue = Readonly<Pick<Issue, 'path' | 'message' | 'suggestion'>>

export type PlainObject = Readonly<Record<string, unknown>>

/** Changes of the status may have a comment, which alone is added to the alarm. */
interface AlarmPortChange {
  readonly status?: string
  readonly severity?: string
  readonly comment?: string
  /** `until`: epoch ms or ISO 8601 */
  readonly shelve?: { readonly until: unknown; readonly reason: string }
}

export interface AlarmPort {
  /** Raises an alarm and returns it, new or repeated. `source`: id of the resource. */
  raise(
    alarm: {
      readonly source: string
      readonly type: string
      readonly text: string
      readonly severity: string
      /** epoch ms or ISO 8601; absent: now */
      readonly timestamp?: unknown
      /** what a repeat does to the open alarm; absent: `count` */
      readonly onRepeat?: 'count' | 'highest' | 'replace'
      readonly properties?: PlainObject
    },
    cause: Cause,
  ): Promise<PlainObject>
  update(id: string, change: AlarmPortChange, cause: Cause): Promise<PlainObject>
  /**
   * Returns the problems that `raise` would report for the given parts; absent parts are unknown. Synchronous, without
   * access to stored data.
   */
  check?(alarm: {
    readonly type?: string
    readonly text?: string
    readonly severity?: string
    readonly timestamp?: unknown
    readonly properties?: PlainObject
  }): readonly BodyIssue[]
  /** Clears all open alarms of that source and type atomically, and returns them. */
  clear(source: string, type: string, cause: Cause): Promise<readonly PlainObject[]>
  latest(source: string): Promise<PlainObject | undefined>
  find(filter: {
    readonly source?: string
    readonly status?: readonly string[]
    readonly type?: readonly string[]
    readonly history?: boolean
  }): Promise<{ readonly total: number; readonly alarms: readonly PlainObject[] }>
}

export interface ResourcePort {
  /** returns the resource including inherited values; undefined when it does not exist */
  get(id: string): Promise<PlainObject | undefined>
  /** Merges `change` at the top level; `null` removes a field. Returns the resource as stored. */
  patch(id: string, change: PlainObject, cause: Cause): Promise<PlainObject>
  /** Returns the problems that `patch` would report for any resource. Synchronous. */
  checkPatch?(change: PlainObject): readonly BodyIssue[]
  children(id: string): Promise<readonly PlainObject[]>
  /** finds resources. `query`: parameters of the resource list, by name */
  find(query: PlainObject): Promise<readonly PlainObject[]>
}

export interface DataPort {
  /** Posts a message. `store` persists it, `forward` runs tasks with it. */
  post(
    resource: string,
    message: PlainObject,
    how: { readonly store: boolean; readonly forward: boolean },
    cause: Cause,
  ): Promise<void>
  command(resource: string, command: PlainObject & { readonly name: string }, cause: Cause): Promise<PlainObject>
  /** Returns the problems that `post` would report for any resource. Synchronous. */
  checkMessage?(message: PlainObject): readonly BodyIssue[]
  /** Returns the problems that `command` would report for any resource. Synchronous. */
  checkCommand?(command: PlainObject): readonly BodyIssue[]
  /** `now` of each read: time of the task, epoch ms. In a rehearsal, later data is invisible */
  messages(resource: string, limit: number, now?: number): Promise<readonly PlainObject[]>
  /** returns the newest sample of each metric; times are epoch ms */
  latest(
    resource: string,
    now?: number,
  ): Promise<readonly { readonly metric: string; readonly time: number; readonly value: unknown }[]>
  /** runs a time series query; takes its body and returns its result */
  series(query: PlainObject, now?: number): Promise<PlainObject>
}

export interface QueryPort {
  /**
   * Executes a stored or inline query relative to `now`, the time of the task in epoch ms; later data is invisible.
   * `resource` overrides the resource of the query, `taskResource` is the default. Each row contains its time and a
   * value for each column, or null.
   */
  execute(
    source: { readonly stored: string } | { readonly query: PlainObject },
    options: { readonly now: number; readonly resource?: string; readonly taskResource?: string },
  ): Promise<{
    readonly columns: readonly PlainObject[]
    readonly rows: readonly (readonly [time: number, ...values: unknown[]])[]
    readonly messages: readonly string[]
  }>
  /** Returns the problems that `execute` would report. Synchronous, without access to stored data. */
  check?(query: PlainObject): readonly BodyIssue[]
}

export interface WebscriptPort {
  /** Calls a webscript of the tenant. A status of 400 or above is returned, not thrown. */
  call(
    request: {
      readonly name: string
      readonly version?: string
      readonly method: string
      readonly path: string
      readonly query: Readonly<Record<string, string>>
      readonly body?: unknown
    },
    cause: Cause,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly data: unknown }>
}

export interface ModelPort {
  /**
   * Predicts one instance with a hosted model of the tenant. `features`: values in the order of the model, or by name.
   */
  predict(request: {
    readonly model: string
    readonly features: readonly unknown[] | PlainObject
    /** for scikit-learn models: return class probabilities */
    readonly probabilities?: boolean
  }): Promise<unknown>
  /**
   * Returns labels with their scores, highest first. A model that only predicts returns one label, or one for each
   * probability.
   */
  classify(request: {
    readonly model: string
    readonly features: readonly unknown[] | PlainObject
    readonly probabilities?: boolean
  }): Promise<readonly (readonly [label: string, score: number])[]>
}

export interface ObjectPort {
  /** Returns text and properties of an object; undefined when it does not exist. `TOO_LARGE` above `most` bytes. */
  get(
    bucket: string,
    path: string,
    most: number,
  ): Promise<{ readonly object: PlainObject; readonly text: string } | undefined>
  /** Creates or replaces an object; returns its properties. */
  put(
    bucket: string,
    path: string,
    text: string,
    options: { readonly contentType: string },
    cause: Cause,
  ): Promise<PlainObject>
}

export interface PlugServices {
  readonly alarms?: AlarmPort
  readonly resources?: ResourcePort
  readonly data?: DataPort
  readonly queries?: QueryPort
  readonly webscripts?: WebscriptPort
  readonly models?: ModelPort
  readonly objects?: ObjectPort
}
