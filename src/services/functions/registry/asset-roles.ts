/** What the assets of a version are for, by the files that its runtime knows. */
import { AppError } from '#kernel'
import type { AssetInfo, AssetRole } from '../contract.ts'
import type { FunctionRecord } from '../function-record.ts'
import { TYPE_NAMES } from '../function-type.ts'
import { RUNTIMES } from '../runtimes/catalog.ts'

export function roleOf({ type, manifest }: FunctionRecord, path: string): AssetInfo['role'] {
  const runtime = RUNTIMES.get(manifest.runtime)
  if (path === TYPE_NAMES[type].manifestFile) return 'manifest'
  if (path === runtime?.main) return 'main'
  if (path === runtime?.project || path === runtime?.lock) return 'project'
  return path.startsWith('lib/') ? 'lib' : 'other'
}

/** The file that has a role, whether it is there or not. `NOT_FOUND` for a runtime that is gone. */
export function pathOfRole({ type, manifest }: FunctionRecord, role: AssetRole): string {
  if (role === 'manifest') return TYPE_NAMES[type].manifestFile
  const path = RUNTIMES.get(manifest.runtime)?.[role]
  if (path === undefined)
    throw new AppError('NOT_FOUND', `this host does not know which file of ${manifest.runtime} is its ${role}`)
  return path
}
