/**
 * What plugs may ask of the services around the engine: one port a service, given to `createBuiltins({ services })` by
 * whoever has them. A host gives each tenant its own, so that a plug never reaches another tenant.
 *
 * Not in here: HTTP, paging and wire forms. Answers are plain JSON in the shapes of the services; refusals are AppErrors.
 */
import type { Issue } from '#kernel'

/** Who asks, and why: services keep it, so that a chain of rules can be shown and stopped. */
export interface Cause {
  readonly task: string
  readonly node: string
  /** the execution's id: the same work asked twice has the same */
  readonly effect: string
  /** the source whose trigger ran the node */
  readonly trigger?: string
  /** rules in a row that led here; services refuse above their limit */
  readonly hops: number
  /** what everything that came of one arrival is known by; services hand it on with the hops. Absent: not known */
  readonly root?: string
  /** the effect does not say what it comes after: services neither refuse it for its order nor remember it */
  readonly unordered?: boolean
}

/** What a service would refuse: the place is a JSON pointer into what it was shown. */
export type BodyIssue = Readonly<Pick<Issue, 'path' | 'message' | 'suggestion'>>

export type PlainObject = Readonly<Record<string, unknown>>

export interface AlarmPort {
  /** `source`: id of the resource. Gives the alarm, new or repeated. */
  raise(
    alarm: {
      readonly source: string
      readonly type: string
      readonly text: string
      readonly severity: string
      readonly properties?: PlainObject
    },
    cause: Cause,
  ): Promise<PlainObject>
  update(
    id: string,
    change: { readonly status?: string; readonly severity?: string },
    cause: Cause,
  ): Promise<PlainObject>
  /**
   * What `raise` would refuse of the parts that are known; what is absent is not known yet. At once, and without asking
   * anything that is stored.
   */
  check?(alarm: {
    readonly type?: string
    readonly text?: string
    readonly severity?: string
    readonly properties?: PlainObject
  }): readonly BodyIssue[]
  /** Clears whatever is open of that source and type; gives those alarms. One operation: a raise comes before or after it. */
  clear(source: string, type: string, cause: Cause): Promise<readonly PlainObject[]>
  /** the one with the newest timestamp */
  latest(source: string): Promise<PlainObject | undefined>
  find(filter: {
    readonly source?: string
    readonly status?: readonly string[]
    readonly type?: readonly string[]
    readonly history?: boolean
  }): Promise<{ readonly total: number; readonly alarms: readonly PlainObject[] }>
}

export interface ResourcePort {
  /** with inherited values; undefined when there is none */
  get(id: string): Promise<PlainObject | undefined>
  /** Top-level merge; `null` removes. Gives the resource as stored. */
  patch(id: string, change: PlainObject, cause: Cause): Promise<PlainObject>
  /** What `patch` would refuse of any resource. At once. */
  checkPatch?(change: PlainObject): readonly BodyIssue[]
  children(id: string): Promise<readonly PlainObject[]>
  /** parameters of the listing of resources, by name */
  find(query: PlainObject): Promise<readonly PlainObject[]>
}

export interface DataPort {
  /** Posts a message: `store` keeps it, `forward` wakes tasks. */
  post(
    resource: string,
    message: PlainObject,
    how: { readonly store: boolean; readonly forward: boolean },
    cause: Cause,
  ): Promise<void>
  /** Sends a command to a resource. */
  command(resource: string, command: PlainObject & { readonly name: string }, cause: Cause): Promise<PlainObject>
  /** What `post` would refuse of any resource. At once. */
  checkMessage?(message: PlainObject): readonly BodyIssue[]
  /** What `command` would refuse of any resource. At once. */
  checkCommand?(command: PlainObject): readonly BodyIssue[]
  /** newest first */
  messages(resource: string, limit: number): Promise<readonly PlainObject[]>
  /** newest sample of each metric; times are epoch ms */
  latest(
    resource: string,
  ): Promise<readonly { readonly metric: string; readonly time: number; readonly value: unknown }[]>
  /** body and answer of a time series query */
  series(query: PlainObject): Promise<PlainObject>
}

export interface QueryPort {
  /**
   * Carries out a stored query or one that is given, relative to `now`, the time of the task in epoch ms: nothing that is
   * later is seen. `resource` takes the place of the query's own, `taskResource` counts where the query has none. Each row
   * has its time and a value for each column, or null.
   */
  execute(
    source: { readonly stored: string } | { readonly query: PlainObject },
    options: { readonly now: number; readonly resource?: string; readonly taskResource?: string },
  ): Promise<{
    readonly columns: readonly PlainObject[]
    readonly rows: readonly (readonly [time: number, ...values: unknown[]])[]
    readonly messages: readonly string[]
  }>
  /** What `execute` would refuse of a query. At once, and without asking anything that is stored. */
  check?(query: PlainObject): readonly BodyIssue[]
}

export interface WebscriptPort {
  /** Calls a webscript of the tenant. A status of 400 and more is an answer, too. */
  call(
    request: {
      readonly name: string
      readonly version?: string
      readonly method: string
      readonly path: string
      readonly query: Readonly<Record<string, string>>
      /** text as it is, anything else as JSON */
      readonly body?: unknown
    },
    cause: Cause,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly data: unknown }>
}

export interface ModelPort {
  /** What a hosted model of the tenant says of one instance. `features`: values in the order of the model, or by name. */
  predict(request: {
    readonly model: string
    readonly features: readonly unknown[] | PlainObject
    /** of scikit-learn: those of its classes */
    readonly probabilities?: boolean
  }): Promise<unknown>
  /** Labels with their scores, the highest first; a model that only predicts has one, or one for each probability. */
  classify(request: {
    readonly model: string
    readonly features: readonly unknown[] | PlainObject
    readonly probabilities?: boolean
  }): Promise<readonly (readonly [label: string, score: number])[]>
}

export interface ObjectPort {
  /** The text of an object, and what is known of it; undefined when there is none. `TOO_LARGE` above `most` bytes. */
  get(
    bucket: string,
    path: string,
    most: number,
  ): Promise<{ readonly object: PlainObject; readonly text: string } | undefined>
  /** Makes or replaces it; gives what is known of it. */
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
