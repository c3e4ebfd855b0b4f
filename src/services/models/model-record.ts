/** Defines how a hosted model is stored and shown. */
import type { CollectionSpec } from '#storage'
import type { Signature } from './driver.ts'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { ModelInfo } from './model-schema.ts'
import type { SealedRemote } from './remote/sealed-remote.ts'

export interface ModelRecord {
  readonly name: string
  readonly framework: Framework
  readonly description: string
  readonly version: number
  /** version in the function registry; absent until registered */
  readonly release?: string
  readonly digest: string
  readonly upload: string
  readonly remote?: SealedRemote
  readonly state: ModelState
  readonly createdBy: string
  readonly createdOn: number
  readonly updatedBy: string
  readonly updatedOn: number
}

export type ModelState =
  | { readonly kind: 'loading' }
  | {
      readonly kind: 'ready'
      readonly frameworkVersion?: string
      readonly signatures: readonly Signature[]
      readonly warnings: readonly string[]
    }
  | { readonly kind: 'failed'; readonly reason: string }
  /** no driver of the host accepts the model, but another host may */
  | { readonly kind: 'unsupported'; readonly reason: string }
  /** the model's server was unreachable, and may recover */
  | { readonly kind: 'away'; readonly reason: string }

export const MODELS: CollectionSpec<ModelRecord> = {
  name: 'models',
  version: 1,
  audited: true,
  fields: {
    name: { type: 'text', of: ({ name }) => name },
    state: { type: 'text', of: ({ state }) => state.kind },
  },
}

export function nextRecord(
  former: ModelRecord | undefined,
  fields: Omit<ModelRecord, 'version' | 'createdBy' | 'createdOn'>,
): ModelRecord {
  const { version = 0, createdBy = fields.updatedBy, createdOn = fields.updatedOn } = former ?? {}
  return { ...fields, version: version + 1, createdBy, createdOn }
}

export function infoOf(record: ModelRecord): ModelInfo {
  const { name, framework, description, version, release, remote, state } = record
  const { createdBy, createdOn, updatedBy, updatedOn } = record
  const isReady = state.kind === 'ready'
  return {
    name,
    framework,
    ...(isReady && state.frameworkVersion !== undefined && { framework_version: state.frameworkVersion }),
    description,
    version: String(version),
    ...(release !== undefined && { semantic_version: release }),
    ...(remote !== undefined && { remote }),
    ready: isReady,
    ...('reason' in state && { failure: state.reason }),
    ...(isReady && state.warnings.length > 0 && { warnings: state.warnings }),
    supported_endpoints: isReady ? endpointsOf(state.signatures) : [],
    createdBy,
    createdOn: new Date(createdOn).toISOString(),
    updatedBy,
    updatedOn: new Date(updatedOn).toISOString(),
  }
}

function endpointsOf(signatures: readonly Signature[]): readonly ModelOperation[] {
  return [...new Set(['predict' as const, ...signatures.map(({ operation }) => operation)])]
}
