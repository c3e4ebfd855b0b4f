/**
 * Port for running models. A driver opens a model from its files, and returns an object that answers calls.
 *
 * Names, rights of tenants, storage, HTTP and call formats are outside of it. A call has instances by row, and its
 * answer has one value per instance.
 *
 * DRIVER-1 an answer has one value for each instance, in their order, plain JSON without NaN or infinities
 * DRIVER-2 an invalid instance is `VALIDATION` with its position; a failure of the model is `MODEL_FAILED`; a failure
 *   of its server is `REMOTE_FAILED` or `REMOTE_LATE`, and its model is opened again
 * DRIVER-3 calls of several callers that come at once do not change each other's answers, nor does one that is refused
 */
import { AppError, type Json } from '#kernel'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { RemoteModel, RuntimeInfo } from './model-schema.ts'

export interface ModelDriver {
  readonly name: string
  /** Reason why it does not run that model; undefined: it does. */
  refuses(model: ModelPackage): Promise<string | undefined>
  /**
   * Loads the model. Throws `VALIDATION` for unreadable files, `MODEL_FAILED` for a model that fails to load,
   * `REMOTE_FAILED` and `REMOTE_LATE` for one that may be available later.
   */
  open(model: ModelPackage): Promise<OpenModel>
  runtimes(): Promise<readonly RuntimeInfo[]>
  close(): Promise<void>
}

export type ModelPackage = PackageOfFiles | RemotePackage

export interface PackageOfFiles extends PackageName {
  readonly framework: Framework
  /** Files by their paths in the zip */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly remote?: undefined
}

export interface RemotePackage extends PackageName {
  readonly framework: Framework
  /** With headers as sent */
  readonly remote: Required<RemoteModel>
}

interface PackageName {
  readonly tenant: string
  readonly name: string
  /** Digest of the files and the tenant; of a remote model: unique per upload */
  readonly digest: string
}

export interface OpenModel {
  readonly signatures: readonly Signature[]
  /** Version of the library that runs it */
  readonly frameworkVersion?: string
  /** Notes for its owner: a sentence each */
  readonly warnings: readonly string[]
  call(call: ModelCall): Promise<readonly Json[]>
  /** Releases resources; later calls are rejected. */
  close(): Promise<void>
}

/** Operation of a model with its inputs. */
export interface Signature {
  /** Absent: the model has no named signatures */
  readonly name?: string
  readonly operation: ModelOperation
  /** A single unnamed one: each instance is its value. Empty: unknown */
  readonly inputs: readonly SignatureInput[]
}

export interface SignatureInput {
  readonly name?: string
  readonly type: 'number' | 'integer' | 'text' | 'boolean'
  readonly shape: readonly (number | null)[]
}

export interface ModelCall {
  readonly operation: ModelOperation
  readonly signature?: string
  /** Not empty */
  readonly instances: readonly Json[]
  /** For scikit-learn: class probabilities instead of the class */
  readonly probabilities?: boolean
}

/** Whether the server of a model is unreachable or late, and may recover. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'REMOTE_FAILED' || error.code === 'REMOTE_LATE')
}

/** `cause` of an error after which a model is not retried. */
export const GAVE_UP = 'gave up'
