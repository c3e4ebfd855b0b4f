/**
 * The port of the models service: what runs models. A driver is asked for a model with all of its files, and gives what
 * answers calls.
 *
 * Not in here: names, tenants' rights, storage, HTTP, the forms in which calls come. A call has instances by row, and
 * its answer a value for each.
 *
 * DRIVER-1 an answer has one value for each instance, in their order, plain JSON without NaN or infinities
 * DRIVER-2 what is wrong with an instance is `VALIDATION`, and says where; what the model fails at is `MODEL_FAILED`; what
 *   a server that has it fails at is `REMOTE_FAILED` or `REMOTE_LATE`, and its model is opened anew
 * DRIVER-3 calls of several callers that come at once do not change each other's answers, nor does one that is refused
 */
import { AppError, type Json } from '#kernel'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { RemoteModel, RuntimeInfo } from './model-schema.ts'

export interface ModelDriver {
  readonly name: string
  /** Why it does not run that model: a sentence. Undefined: it does. */
  refuses(model: ModelPackage): Promise<string | undefined>
  /**
   * Loads it. `VALIDATION` for files that it cannot read, `MODEL_FAILED` for a model that cannot be loaded,
   * `REMOTE_FAILED` and `REMOTE_LATE` for one that may be there later.
   */
  open(model: ModelPackage): Promise<OpenModel>
  /** What it runs models with. */
  runtimes(): Promise<readonly RuntimeInfo[]>
  /** Lets everything go. */
  close(): Promise<void>
}

/** A model with its files, or the server that has it. */
export type ModelPackage = PackageOfFiles | RemotePackage

export interface PackageOfFiles extends PackageName {
  readonly framework: Framework
  /** by their paths in the zip */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly remote?: undefined
}

export interface RemotePackage extends PackageName {
  readonly framework: Framework
  /** with its headers as they are sent */
  readonly remote: Required<RemoteModel>
}

interface PackageName {
  readonly tenant: string
  readonly name: string
  /** the same for the same files of a tenant, and for no others; of one on a server: for one upload */
  readonly digest: string
}

export interface OpenModel {
  readonly signatures: readonly Signature[]
  /** of the library that runs it */
  readonly frameworkVersion?: string
  /** what its owner should know: a sentence each */
  readonly warnings: readonly string[]
  call(call: ModelCall): Promise<readonly Json[]>
  /** Lets go of what it holds; a call after it is refused. */
  close(): Promise<void>
}

/** What can be asked of a model, and with what. */
export interface Signature {
  /** absent: the model has none with names */
  readonly name?: string
  readonly operation: ModelOperation
  /** one without a name: each instance is its value. Empty: nobody knows */
  readonly inputs: readonly SignatureInput[]
}

export interface SignatureInput {
  readonly name?: string
  readonly type: 'number' | 'integer' | 'text' | 'boolean'
  /** of one instance; null: any length */
  readonly shape: readonly (number | null)[]
}

export interface ModelCall {
  readonly operation: ModelOperation
  /** name of the one to use */
  readonly signature?: string
  /** never empty */
  readonly instances: readonly Json[]
  /** of scikit-learn: probabilities of classes in place of the class */
  readonly probabilities?: boolean
}

/** Whether the server that has a model is not there, or not in time: it may be soon. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'REMOTE_FAILED' || error.code === 'REMOTE_LATE')
}

/** The `cause` of an error after which a model is not tried any more. */
export const GAVE_UP = 'gave up'
