/**
 * Port for running models. A call contains instances as rows, and its result contains one value per instance.
 *
 * DRIVER-1 a result has one value for each instance, in their order, plain JSON without NaN or infinities
 * DRIVER-2 an invalid instance is `VALIDATION` with its position; a failure of the model is `MODEL_FAILED`; a failure
 *   of its server is `REMOTE_FAILED` or `REMOTE_LATE`, and its model is opened again
 * DRIVER-3 concurrent calls do not change each other's results, and neither does a rejected call
 */
import { AppError, type Json } from '#kernel'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { RemoteModel, RuntimeInfo } from './model-schema.ts'

export interface ModelDriver {
  readonly name: string
  refuses(model: ModelPackage): Promise<string | undefined>
  /** `REMOTE_FAILED` and `REMOTE_LATE`: the model may become available later. */
  open(model: ModelPackage): Promise<OpenModel>
  runtimes(): Promise<readonly RuntimeInfo[]>
  close(): Promise<void>
}

export type ModelPackage = PackageOfFiles | RemotePackage

export interface PackageOfFiles extends PackageName {
  readonly framework: Framework
  /** files by their paths in the zip */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly remote?: undefined
}

export interface RemotePackage extends PackageName {
  readonly framework: Framework
  /** the server of the model, with headers as sent */
  readonly remote: Required<RemoteModel>
}

interface PackageName {
  readonly tenant: string
  readonly name: string
  /** digest of the files and the tenant; for a remote model, unique per upload */
  readonly digest: string
}

export interface OpenModel {
  readonly signatures: readonly Signature[]
  readonly frameworkVersion?: string
  readonly warnings: readonly string[]
  call(call: ModelCall): Promise<readonly Json[]>
  /** Releases resources; later calls are rejected. */
  close(): Promise<void>
}

export interface Signature {
  /** name; absent when the model has no named signatures */
  readonly name?: string
  readonly operation: ModelOperation
  /** a single unnamed input: each instance is its value; empty: the inputs are unknown */
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
  /** the instances; at least one */
  readonly instances: readonly Json[]
  /** for scikit-learn: return class probabilities instead of the class */
  readonly probabilities?: boolean
}

/** True when the server of a model is unreachable or slow, and may recover. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'REMOTE_FAILED' || error.code === 'REMOTE_LATE')
}

/** `cause` of an error after which a model is not tried again. */
export const GAVE_UP = 'gave up'
