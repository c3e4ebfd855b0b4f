/**
 * The one table of coded errors, and the shape in which several problems are reported at once.
 * `status` is the HTTP status a host answers with. docs/reference/errors.md shows the table.
 */
export const ERRORS = {
  VALIDATION: {
    status: 400,
    meaning: 'the rule, template, task settings or message is not valid; `issues` lists every problem',
  },
  NOT_JSON: { status: 400, meaning: 'a file or body that should be JSON cannot be parsed' },
  BAD_RECORDING: { status: 400, meaning: 'a recording has a torn line, a bad time, or lines out of order' },
  NOT_FOUND: { status: 404, meaning: 'no task, node or file of that name' },
  WRONG_STATUS: { status: 400, meaning: 'the task is not in a status that allows the action' },
  INVALID_STATE: { status: 400, meaning: 'a pushed state is not one of the states that the sensor declares' },
  PLUG: { status: 400, meaning: 'a plug definition cannot be used: bad name, version, states or fields' },
  PLUG_FAILED: { status: 400, meaning: 'a plug threw, answered wrongly, or took longer than its time limit' },
  BINDING: { status: 400, meaning: 'a placeholder in a property could not be resolved' },
  RESOLUTION: { status: 400, meaning: 'a resource placeholder or variable had nothing to resolve to at task start' },
  SCHEDULE: { status: 400, meaning: 'a cron, rrule, frequency or time zone cannot be used' },
  SAVED_STATE: { status: 400, meaning: 'a saved task does not fit the rule it is restored into' },
  TOO_LARGE: { status: 400, meaning: 'an input or question is above a declared bound' },
  CONFLICT: { status: 409, meaning: 'something else was written meanwhile: read again, then write again' },
  SUPERSEDED: {
    status: 409,
    meaning: 'a call of a rule came too late: a later one of its task was made on the same thing before',
  },
  PRECONDITION: {
    status: 412,
    meaning: 'the version that the request wants to change is not the one that is there: read again',
  },
  FINAL: { status: 412, meaning: 'the alarm is cleared, and a cleared alarm never changes again' },
  FENCED: {
    status: 503,
    meaning:
      'another host has what the request is about, or is about to have it; the header `Retry-After` says in how many seconds to ask again',
  },
  ELSEWHERE: {
    status: 421,
    meaning:
      'another host of the cluster has the tenant, and must be asked itself; the header `Reflexarc-Owner` names it',
  },
  CLOSED: { status: 503, meaning: 'the store or host is shut down or shutting down' },
  STORE: {
    status: 500,
    meaning: 'the data folder or database cannot be used: rights, space, or a newer version wrote it',
  },
  DAMAGED: {
    status: 500,
    meaning: 'what is stored is not as it was written; `reflexarc doctor` lists the damage of a data folder',
  },
  UNAVAILABLE: {
    status: 503,
    meaning:
      'the database cannot be reached at the moment, or has no room; the header `Retry-After` says in how many seconds to try again',
  },
  UNAUTHORIZED: { status: 401, meaning: 'the request has no credentials, or they are wrong or expired' },
  FORBIDDEN: { status: 403, meaning: 'the credentials are good, but not for this tenant or this action' },
  METHOD: { status: 405, meaning: 'the path exists, but not with this method; the header `Allow` lists those it has' },
  BODY_LATE: { status: 408, meaning: 'the body of a request did not arrive whole in the time that the host allows' },
  BODY_TOO_LARGE: { status: 413, meaning: 'the body of a request is above the limit in bytes' },
  MEDIA_TYPE: { status: 415, meaning: 'the body has a content type that the route does not read' },
  RATE_LIMITED: {
    status: 429,
    meaning: 'too many requests; the header `Retry-After` says in how many seconds to go on',
  },
  DATA: { status: 502, meaning: 'the series that a query is about cannot be read at the moment' },
  TIMED_OUT: { status: 503, meaning: 'a request took longer than the host allows' },
  LISTEN: { status: 500, meaning: 'the host cannot listen on its address: the port is in use, or not for this user' },
  INTERNAL: { status: 500, meaning: 'an internal error; the answer has an id that the log has too' },
  TEMPLATE: {
    status: 400,
    meaning: 'a Velocity template cannot be read; the issue has line, column and the lines around',
  },
  CONVERSION: {
    status: 422,
    meaning: 'a converter cannot make messages of the payload: the template fails, or gives no JSON with `metrics`',
  },
  FORWARDING: {
    status: 502,
    meaning:
      'what was handed on, such as messages of a converter or a file, was not taken; nothing is known to be stored',
  },
  NOT_READY: { status: 409, meaning: 'a hosted model is still being loaded; ask again in some seconds' },
  MODEL_FAILED: {
    status: 500,
    meaning: 'a hosted model failed at what it was asked, or cannot be run; the text is that of the model',
  },
  UNSUPPORTED: {
    status: 501,
    meaning:
      'nothing here does that: no driver runs models of that framework, or it is not for a tenant of several partitions',
  },
  REMOTE_FAILED: {
    status: 502,
    meaning: 'the server that has a model cannot be reached, does not have it, or answers what nobody can read',
  },
  REMOTE_LATE: { status: 504, meaning: 'the server that has a model did not answer in time' },
  PROPERTY: {
    status: 400,
    meaning: 'a rule does not keep a property that it was checked for; the message has the smallest case',
  },
  USAGE: { status: 400, meaning: 'the command line was given wrong options' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** An operation of JSON Patch (RFC 6902). Its pointers lead into the checked document. */
export type PatchOperation =
  | { readonly op: 'move'; readonly from: string; readonly path: string }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'replace'; readonly path: string; readonly value: string | number }

/** One problem in a document. `path` is a JSON pointer such as `/sensors/0/properties/value`. */
export interface Issue {
  path: string
  /** what is wrong, naming the offending text */
  message: string
  /** what would be right */
  suggestion?: string
  /** the same for editors, where the document allows a single correction */
  fix?: readonly PatchOperation[]
  /** `INFO` works as it is, and refuses nothing even where warnings do */
  severity: 'ERROR' | 'WARNING' | 'INFO'
  /** a stable kind for programs: `PLUG`, `BINDING`, `VARIABLE`, `STATE`, `LABEL`, `CYCLE`, `TYPE` ... */
  type: string
  details?: Record<string, unknown>
}

/** The only thing thrown across a module border. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly issues: readonly Issue[]

  constructor(code: ErrorCode, message: string, options: { issues?: readonly Issue[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.issues = options.issues ?? []
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** `VALIDATION` error over the ERRORs among `issues`; its message is the whole list, one a line. */
export function validationError(subject: string, issues: readonly Issue[]): AppError {
  const errors = issues.filter((issue) => issue.severity === 'ERROR')
  const count = errors.length === 1 ? '1 problem' : `${errors.length} problems`
  const lines = errors.map(describeIssue)
  return new AppError('VALIDATION', `${subject} has ${count}:\n${lines.map((line) => `  ${line}`).join('\n')}`, {
    issues,
  })
}

/** One line for people: `/path: what is wrong; what would be right`. */
export function describeIssue(issue: Issue): string {
  const hint = issue.suggestion === undefined ? '' : `; ${issue.suggestion}`
  return `${issue.path || '/'}: ${issue.message}${hint}`
}

/** The text of anything that was thrown. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  } catch {
    return 'unprintable error'
  }
}

/** Seconds after which a `RATE_LIMITED` may be another answer: its `cause`, when that is a number. */
export function secondsToWait(error: unknown): number {
  const cause = error instanceof AppError ? error.cause : undefined
  return typeof cause === 'number' ? cause : 1
}

/** The store could not be asked, or has no room: the same may be done when it is back. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAVAILABLE'
}
