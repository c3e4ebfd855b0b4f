/** Errors of the S3 protocol, and their mapping from AppErrors. */
import { TOO_SMALL } from '../bounded-content.ts'
import { AppError, type ErrorCode } from '#kernel'

const S3_ERRORS = {
  AccessDenied: [403, 'FORBIDDEN'],
  AuthorizationQueryParametersError: [400, 'VALIDATION'],
  BadDigest: [400, 'VALIDATION'],
  EntityTooLarge: [400, 'TOO_LARGE'],
  EntityTooSmall: [400, 'VALIDATION'],
  InternalError: [500, 'INTERNAL'],
  InvalidAccessKeyId: [403, 'FORBIDDEN'],
  InvalidArgument: [400, 'VALIDATION'],
  InvalidDigest: [400, 'VALIDATION'],
  InvalidPart: [400, 'VALIDATION'],
  InvalidPartOrder: [400, 'VALIDATION'],
  InvalidPolicyDocument: [400, 'VALIDATION'],
  InvalidRange: [416, 'VALIDATION'],
  InvalidURI: [400, 'VALIDATION'],
  KeyTooLongError: [400, 'VALIDATION'],
  MalformedPOSTRequest: [400, 'VALIDATION'],
  MalformedXML: [400, 'VALIDATION'],
  MaxPostPreDataLengthExceeded: [400, 'TOO_LARGE'],
  MissingContentLength: [411, 'VALIDATION'],
  NoSuchBucket: [404, 'NOT_FOUND'],
  NoSuchKey: [404, 'NOT_FOUND'],
  NoSuchUpload: [404, 'NOT_FOUND'],
  NotImplemented: [501, 'VALIDATION'],
  OperationAborted: [409, 'CONFLICT'],
  PreconditionFailed: [412, 'PRECONDITION'],
  RequestTimeout: [400, 'BODY_LATE'],
  ServiceUnavailable: [503, 'CLOSED'],
  SignatureDoesNotMatch: [403, 'FORBIDDEN'],
  StorageFull: [507, 'STORE'],
} as const satisfies Readonly<Record<string, readonly [status: number, code: ErrorCode]>>

export type S3Code = keyof typeof S3_ERRORS

export class S3Error extends AppError {
  readonly s3Code: S3Code

  constructor(s3Code: S3Code, message: string) {
    super(S3_ERRORS[s3Code][1], message)
    this.s3Code = s3Code
  }

  get s3Status(): number {
    return S3_ERRORS[this.s3Code][0]
  }
}

const BY_CODE: Readonly<Partial<Record<ErrorCode, S3Code>>> = {
  BODY_LATE: 'RequestTimeout',
  BODY_TOO_LARGE: 'EntityTooLarge',
  CLOSED: 'ServiceUnavailable',
  CONFLICT: 'OperationAborted',
  FORBIDDEN: 'AccessDenied',
  NOT_FOUND: 'NoSuchKey',
  PRECONDITION: 'PreconditionFailed',
  RATE_LIMITED: 'ServiceUnavailable',
  TIMED_OUT: 'ServiceUnavailable',
  TOO_LARGE: 'EntityTooLarge',
  UNAVAILABLE: 'ServiceUnavailable',
  VALIDATION: 'InvalidArgument',
}

/** Converts an error; undefined for internal errors, whose text is only logged. */
export function s3ErrorOf(thrown: unknown): S3Error | undefined {
  if (thrown instanceof S3Error) return thrown
  if (isWrongType(thrown)) {
    return new S3Error('InvalidArgument', 'The Content-Type is not a media type; write one such as text/plain')
  }
  if (!(thrown instanceof AppError)) return undefined
  if (isFullDisk(thrown)) return new S3Error('StorageFull', 'The storage of contents is full')
  const isSmall = thrown.issues.some(({ type }) => type === TOO_SMALL)
  const code = isSmall ? 'EntityTooSmall' : BY_CODE[thrown.code]
  return code && new S3Error(code, code === 'ServiceUnavailable' ? 'Try again in a moment' : thrown.message)
}

function isWrongType(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
}

function isFullDisk({ cause }: AppError): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')
}
