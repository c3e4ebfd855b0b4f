/** Provides records of functions for tests. */
import type { FunctionRecord } from '../../../../src/services/functions/function-record.ts'
import { checkManifest } from '../../../../src/services/functions/manifest-schema.ts'

export function recordOf(change: Partial<FunctionRecord> & Pick<FunctionRecord, 'name' | 'version'>): FunctionRecord {
  const { name, version } = change
  const declared = { name, version, type: 'sensor', runtime: 'plug-node24', interface: {} }
  return {
    type: 'plugs',
    status: 'running',
    draft: false,
    deprecated: false,
    manifest: checkManifest('plugs', declared),
    tags: [],
    runtimeVersion: '1.0.0',
    assets: [],
    revision: 'r',
    createdBy: 'anna',
    createdAt: 1_000,
    updatedBy: 'anna',
    updatedAt: 1_000,
    updates: [],
    ...change,
  }
}
