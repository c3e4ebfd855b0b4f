/** A version of a function as it is stored. */
import type { CollectionSpec } from '../../storage/contract.ts'
import type { PlugManifest } from './registry/manifest.ts'

export type FunctionStatus =
  'registered' | 'pending' | 'deployed' | 'running' | 'unhealthy' | 'failed' | 'undeploying' | 'undeployed'

/** Something that somebody asked of a version. */
export interface FunctionUpdate {
  readonly operation:
    | 'create'
    | 'metadata-update'
    | 'assets-update'
    | 'rebuild'
    | 'verify'
    | 'publish'
    | 'deprecate'
    | 'undeprecate'
    | 'undeploy'
  /** epoch ms */
  readonly at: number
  readonly by: string
  readonly comment?: string
  /** parent first */
  readonly jobs?: readonly string[]
}

export interface AssetRecord {
  readonly path: string
  /** bytes */
  readonly size: number
  /** SHA-256 in hex: its blob is called so */
  readonly sha256: string
}

export interface FunctionRecord {
  readonly name: string
  readonly version: string
  readonly status: FunctionStatus
  readonly draft: boolean
  readonly deprecated: boolean
  readonly manifest: PlugManifest
  readonly runtimeVersion: string
  /** by path */
  readonly assets: readonly AssetRecord[]
  /** of the assets: 64 hex digits */
  readonly revision: string
  readonly createdBy: string
  /** epoch ms, as all times here */
  readonly createdAt: number
  readonly updatedBy: string
  readonly updatedAt: number
  /** newest first */
  readonly updates: readonly FunctionUpdate[]
  /** what the last build made */
  readonly build?: { readonly digest: string; readonly revision: string }
  /** the revision of the assets that have answered well once */
  readonly verified?: string
  readonly failure?: { readonly reason: string; readonly log: readonly string[] }
}

export const FUNCTIONS: CollectionSpec<FunctionRecord> = {
  name: 'functions',
  version: 1,
  fields: {
    name: { type: 'text', of: ({ name }) => name },
    status: { type: 'text', of: ({ status }) => status },
  },
}

const MAX_UPDATES = 50

export function recordId(name: string, version: string): string {
  return `plugs/${name}@${version}`
}

/** With one more update, the newest first. */
export function updated(
  record: FunctionRecord,
  update: FunctionUpdate,
  change: Partial<FunctionRecord> = {},
): FunctionRecord {
  return {
    ...record,
    ...change,
    updatedBy: update.by,
    updatedAt: update.at,
    updates: [update, ...record.updates].slice(0, MAX_UPDATES),
  }
}
