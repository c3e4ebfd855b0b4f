import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { missingVersions, plugsOf, withExactVersions } from '../../../src/services/rules/tasks/plug-versions.ts'
import { PLUGS } from './support/rules.ts'

const plugs = createRegistry(PLUGS)
const graphOf = (version?: string) => ({
  sensors: [{ label: 'a', name: 'heat', ...(version !== undefined && { version }) }],
})

describe('versions of plugs in a stored rule', () => {
  it.each([
    [undefined, '1.1.0'],
    ['latest', '1.1.0'],
    ['1.0.0', '1.0.0'],
    ['0.3.0', '0.3.0'],
    ['1.7.0', '1.7.0'],
  ])('written as %j are stored as %j', (written, stored) => {
    expect(withExactVersions(graphOf(written), plugs)).toEqual(graphOf(stored))
  })

  it.each([
    ['1.0.0', ['sensor:heat:1.0.0']],
    ['0.3.0', ['sensor:heat:0.3.0', 'sensor:heat:1.1.0']],
    ['1.7.0', ['sensor:heat:1.7.0', 'sensor:heat:1.1.0']],
    ['7.0.0', ['sensor:heat:7.0.0']],
    [undefined, ['sensor:heat:latest']],
  ])('are found as %j if stored as %j', (version, keys) => {
    expect(plugsOf(graphOf(version), plugs)).toEqual(keys)
  })

  it.each([
    ['1.0.0', 0],
    ['0.3.0', 0],
    ['latest', 1],
    ['1.7.0', 1],
    ['7.0.0', 1],
  ])('in an update to %j have %i problems', (toVersion, count) => {
    expect(missingVersions([{ name: 'heat', fromVersion: 'any', toVersion }], plugs, '/updates')).toHaveLength(count)
  })
})
