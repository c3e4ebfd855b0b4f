/** Lists the error codes with their HTTP `status`, and defines the errors and issues that carry them. */
export const ERRORS = {
  VALIDATION: {
    status: 400,
    meaning: 'the rule, template, task settings or message is not valid; `issues` lists every problem',
  },
  NOT_JSON: { status: 400, meaning: 'a file or body that should be JSON cannot be parsed' },
  BAD_RECORDING: { status: 400, meaning: 'a recording has an incomplete line, an invalid time, or lines out of order' },
  NOT_FOUND: { status: 404, meaning: 'the task, node, file or other item does not exist' },
  WRONG_STATUS: { status: 400, meaning: 'the status of the task does not allow the action' },
  INVALID_STATE: { status: 400, meaning: 'a pushed state is not one of the states that the sensor declares' },
  PLUG: { status: 400, meaning: 'a plug definition is not valid: name, version, states or fields' },
  PLUG_FAILED: { status: 400, meaning: 'a plug threw, returned an invalid result, or exceeded its time limit' },
  BINDING: { status: 400, meaning: 'a placeholder in a property could not be resolved' },
  RESOLUTION: { status: 400, meaning: 'a resource placeholder or variable could not be resolved at task start' },
  SCHEDULE: { status: 400, meaning: 'a cron, rrule, frequency or time zone is not valid' },
  SAVED_STATE: { status: 400, meaning: 'a saved task does not match the rule with which it is restored' },
  TOO_LARGE: { status: 400, meaning: 'an input or query exceeds a declared limit' },
  CONFLICT: { status: 409, meaning: 'the data changed in the meantime: read it again, then repeat the write' },
  SUPERSEDED: {
    status: 409,
    meaning: 'a call of a rule came too late: a later call of its task already changed the same thing',
  },
  PRECONDITION: {
    status: 412,
    meaning: 'the stored version differs from the one that the request expects: read it again',
  },
  FINAL: { status: 412, meaning: 'the alarm is cleared, and cleared alarms cannot change' },
  FENCED: {
    status: 503,
    meaning: 'another host owns the tenant, or is taking it over; retry after the seconds in the header `Retry-After`',
  },
  ELSEWHERE: {
    status: 421,
    meaning:
      'another host of the cluster owns the tenant; send the request to the host in the header `Reflexarc-Owner`',
  },
  CLOSED: { status: 503, meaning: 'the store or host is closed or closing' },
  STORE: {
    status: 500,
    meaning:
      'the data folder or database is not usable: check rights and disk space, and whether a newer version wrote it',
  },
  DAMAGED: {
    status: 500,
    meaning: 'stored data is corrupt; `reflexarc doctor` lists the damage of a data folder',
  },
  UNAVAILABLE: {
    status: 503,
    meaning: 'the database is unreachable or out of space; retry after the seconds in the header `Retry-After`',
  },
  UNAUTHORIZED: { status: 401, meaning: 'the credentials are missing, wrong or expired' },
  FORBIDDEN: { status: 403, meaning: 'the credentials are valid, but not for this tenant or action' },
  METHOD: {
    status: 405,
    meaning: 'the path does not allow this method; the header `Allow` lists the methods it allows',
  },
  BODY_LATE: { status: 408, meaning: 'the body of a request did not arrive within the time limit of the host' },
  BODY_TOO_LARGE: { status: 413, meaning: 'the body of a request exceeds the limit in bytes' },
  MEDIA_TYPE: { status: 415, meaning: 'the route does not accept the content type of the body' },
  RATE_LIMITED: {
    status: 429,
    meaning: 'too many requests; retry after the seconds in the header `Retry-After`',
  },
  DATA: { status: 502, meaning: 'the series of a query are temporarily unavailable' },
  TIMED_OUT: { status: 503, meaning: 'a request exceeded the time limit of the host' },
  LISTEN: { status: 500, meaning: 'the host cannot listen on its address: the port is in use or needs other rights' },
  INTERNAL: { status: 500, meaning: 'an internal error; the response has an id that also appears in the log' },
  TEMPLATE: {
    status: 400,
    meaning: 'a Velocity template has a syntax error; the issue shows line, column and surrounding lines',
  },
  CONVERSION: {
    status: 422,
    meaning: 'a converter cannot convert the payload: its template fails, or its output is not JSON with `metrics`',
  },
  FORWARDING: {
    status: 502,
    meaning: 'forwarded messages, such as those of a converter or a file, were rejected; some may have been stored',
  },
  NOT_READY: { status: 409, meaning: 'a hosted model is still loading; retry in some seconds' },
  MODEL_FAILED: {
    status: 500,
    meaning: 'a hosted model failed or cannot run; the message is from the model',
  },
  UNSUPPORTED: {
    status: 501,
    meaning: 'not supported: the framework has no driver',
  },
  REMOTE_FAILED: {
    status: 502,
    meaning: 'the server of a remote model is unreachable, lacks the model, or returned an unreadable response',
  },
  REMOTE_LATE: { status: 504, meaning: 'the server of a remote model did not respond in time' },
  PROPERTY: {
    status: 400,
    meaning: 'a rule violates a checked property; the message shows the smallest counterexample',
  },
  USAGE: { status: 400, meaning: 'the options of the command line are not valid' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** JSON Patch operation (RFC 6902). Pointers refer to the checked document. */
export type PatchOperation =
  | { readonly op: 'move'; readonly from: string; readonly path: string }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: string | number | boolean }

/** One problem in a document. `path` is a JSON pointer such as `/sensors/0/properties/value`. */
export interface Issue {
  path: string
  message: string
  suggestion?: string
  /** machine-readable correction; present when only one correction is possible */
  fix?: readonly PatchOperation[]
  /** severity; an `INFO` never rejects, even where warnings do */
  severity: 'ERROR' | 'WARNING' | 'INFO'
  /** stable kind, for programs to check: `PLUG`, `BINDING`, `VARIABLE`, `STATE`, `LABEL`, `CYCLE`, `TYPE` ... */
  type: string
  details?: Record<string, unknown>
}

/** Error with a code; the only kind thrown across module borders. */
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

export function validationError(subject: string, issues: readonly Issue[]): AppError {
  const errors = issues.filter((issue) => issue.severity === 'ERROR')
  const count = errors.length === 1 ? '1 problem' : `${errors.length} problems`
  const lines = errors.map(describeIssue)
  return new AppError('VALIDATION', `${subject} has ${count}:\n${lines.map((line) => `  ${line}`).join('\n')}`, {
    issues,
  })
}

export function describeIssue(issue: Issue): string {
  const hint = issue.suggestion === undefined ? '' : `; ${issue.suggestion}`
  return `${issue.path || '/'}: ${issue.message}${hint}`
}

/** Returns the message of any thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  } catch {
    return 'unprintable error'
  }
}

/** Returns the seconds to wait after a `RATE_LIMITED` error: its `cause` when that is a number, otherwise 1. */
export function secondsToWait(error: unknown): number {
  const cause = error instanceof AppError ? error.cause : undefined
  return typeof cause === 'number' ? cause : 1
}

/** True when the request itself is at fault, so that it has no effect and a retry fails too. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}

/** True when the store is unreachable or full, so a retry can succeed later. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAVAILABLE'
}
