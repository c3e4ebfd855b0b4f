import { AppError } from '../../kernel/errors.ts'
import { isPlainObject } from '../../kernel/json.ts'
import type { Plug, PlugKind, PlugRegistry } from './plug.ts'
import { shown } from './problem.ts'

interface Versions {
  newest: Plug
  readonly byVersion: Map<string, Plug>
}

/**
 * The plugs that rules may name (part 2, 2.1). Without a version, or with `latest`, the newest by number counts:
 * 1.10.0 is newer than 1.9.0. A sensor and an actuator may share a name.
 * Throws `PLUG` that names every plug given twice in the same version and every value that is no plug.
 */
export function createRegistry(plugs: readonly Plug[]): PlugRegistry {
  const byKind: Record<PlugKind, Map<string, Versions>> = { sensor: new Map(), actuator: new Map() }
  const problems: string[] = []
  plugs.forEach((plug, index) => {
    if (!isPlug(plug)) {
      problems.push(`the plug at position ${index} (${shown(nameOf(plug))}) was not made by definePlug`)
      return
    }
    const versions = byKind[plug.kind].get(plug.name)
    if (versions === undefined) {
      byKind[plug.kind].set(plug.name, { newest: plug, byVersion: new Map([[plug.version, plug]]) })
    } else if (versions.byVersion.has(plug.version)) {
      problems.push(`the ${plug.kind} ${plug.name} ${plug.version} is given twice; keep one or raise its version`)
    } else {
      versions.byVersion.set(plug.version, plug)
      if (compareVersions(plug.version, versions.newest.version) > 0) versions.newest = plug
    }
  })
  if (problems.length > 0) throw new AppError('PLUG', problems.join('\n'))
  const all = Object.freeze([...plugs])
  return {
    find(kind, name, version) {
      const versions = byKind[kind].get(name)
      return version === undefined || version === 'latest' ? versions?.newest : versions?.byVersion.get(version)
    },
    list: () => all,
  }
}

/** Below, at or above 0 as `a` is older than, the same as or newer than `b`; both are `major.minor.patch`. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.')
  const right = b.split('.')
  for (let i = 0; i < 3; i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference
  }
  return 0
}

function isPlug(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { kind, states, input, execute } = value
  return (
    (kind === 'sensor' || kind === 'actuator') &&
    Array.isArray(states) &&
    isPlainObject(input) &&
    typeof execute === 'function'
  )
}

function nameOf(value: unknown): unknown {
  return isPlainObject(value) ? value['name'] : value
}
