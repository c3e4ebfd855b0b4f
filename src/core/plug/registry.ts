/** Finds plugs by kind, name and version. */
import { AppError, isPlainObject, shown } from '#kernel'
import type { Plug, PlugKind, PlugRegistry, ResolvedPlug } from './plug.ts'
import { compareVersions, isVersion, majorOf, parseVersionRange } from './version-range.ts'

/**
 * Creates a registry. Without a version, or with `latest`, the newest version is selected; parts are compared as
 * numbers, so 1.10.0 is newer than 1.9.0. A sensor and an actuator may share a name. A version that is not registered
 * resolves to the newest plug that is compatible with it, else to the newest of the same major version. Throws `PLUG`
 * with every duplicate version and every value that is not a plug.
 */
export function createRegistry(plugs: readonly Plug[]): PlugRegistry {
  const byKind: Record<PlugKind, Map<string, Plug[]>> = { sensor: new Map(), actuator: new Map() }
  const problems: string[] = []
  plugs.forEach((plug, index) => {
    if (!isPlug(plug)) {
      problems.push(`the plug at position ${index} (${shown(nameOf(plug))}) was not made by definePlug`)
      return
    }
    const versions = byKind[plug.kind].get(plug.name)
    // exact size: a growing array reserves sixteen more, and most plugs have only one version
    if (versions === undefined) byKind[plug.kind].set(plug.name, [plug])
    else if (versions.some(({ version }) => version === plug.version))
      problems.push(`the ${plug.kind} ${plug.name} ${plug.version} is registered twice; keep one or raise its version`)
    else versions.push(plug)
  })
  if (problems.length > 0) throw new AppError('PLUG', problems.join('\n'))
  for (const versions of [...byKind.sensor.values(), ...byKind.actuator.values()])
    if (versions.length > 1) versions.sort((a, b) => compareVersions(b.version, a.version))
  const all = Object.freeze([...plugs])
  const resolve = (kind: PlugKind, name: string, version?: string): ResolvedPlug | undefined =>
    resolved(byKind[kind].get(name) ?? [], version)
  return { resolve, find: (kind, name, version) => resolve(kind, name, version)?.plug, list: () => all }
}

/**
 * Creates a registry over a list that may be replaced as a whole. `source` is called at each use, and returns the same
 * list while nothing changed. To invalidate derived data, compare `list()` by identity. Throws like `createRegistry`,
 * at use.
 */
export function followPlugs(source: () => readonly Plug[]): PlugRegistry {
  let known: { readonly plugs: readonly Plug[]; readonly registry: PlugRegistry } | undefined
  const current = (): PlugRegistry => {
    const plugs = source()
    if (known?.plugs !== plugs) known = { plugs, registry: createRegistry(plugs) }
    return known.registry
  }
  return {
    resolve: (kind, name, version) => current().resolve(kind, name, version),
    find: (kind, name, version) => current().find(kind, name, version),
    list: () => current().list(),
  }
}

function resolved(versions: readonly Plug[], wanted: string | undefined): ResolvedPlug | undefined {
  const first = (by: ResolvedPlug['by'], fits: (plug: Plug) => boolean): ResolvedPlug | undefined => {
    const plug = versions.find(fits)
    return plug && { plug, by }
  }
  if (wanted === undefined || wanted === 'latest') return first('newest', () => true)
  if (!isVersion(wanted)) return undefined
  return (
    first('version', ({ version }) => version === wanted) ??
    first('compatible', ({ compatible = '' }) => parseVersionRange(compatible)?.(wanted) === true) ??
    first('major', ({ version }) => majorOf(version) === majorOf(wanted))
  )
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
