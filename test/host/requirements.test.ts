import { describe, expect, it } from 'vitest'
import type { Environment, Given } from '../../src/host/config.ts'
import { requirePackages, requireSqlite } from '../../src/host/requirements.ts'
import { readText } from '../support/repository.ts'
import { AppError } from '../../src/kernel/errors.ts'

/** Returns the error when packages with a matching name are missing. */
const said = (given: Given, env: Environment, absent: RegExp): string => {
  const find = (name: string) => {
    if (absent.test(name)) throw new Error(`no ${name}`)
  }
  try {
    requirePackages(given, env, find)
  } catch (error) {
    if (error instanceof AppError && error.code === 'USAGE') return error.message
    throw error
  }
  return ''
}

describe('the packages of a host', () => {
  it('are all named at once with a command that brings them, in the versions that fit', () => {
    expect(said({}, {}, /fastify|prom/)).toBe(
      'Packages of this host are missing: npm install fastify@5 @fastify/swagger@9 @fastify/swagger-ui@6 @fastify/websocket@11 prom-client@15',
    )
  })

  it('of PostgreSQL and MQTT are needed by who requests them alone', () => {
    const absent = /^pg$|mqtt/
    expect(said({}, { REFLEXARC_MQTT: '' }, absent)).toBe('')
    expect(said({ store: 'postgres://a@b/c' }, {}, absent)).toMatch(/npm install pg@8$/)
    expect(said({}, { REFLEXARC_STORE: 'postgres://a@b/c', REFLEXARC_MQTT: '1883' }, absent)).toMatch(
      / pg@8 mqtt-packet@9$/,
    )
    expect(said({ mqtt: 0 }, {}, absent)).toMatch(/npm install mqtt-packet@9$/)
  })

  it('are installed', () => {
    expect(() => requirePackages({ mqtt: 0, store: 'postgres://a@b/c' }, {})).not.toThrow()
  })
})

describe('the README', () => {
  it('has the command that brings them', () => {
    const [, command = ''] = /(npm install .+)$/.exec(said({}, {}, /./)) ?? []
    expect(readText('README.md')).toContain(`\n${command} #`)
  })
})

describe('the SQLite of Node', () => {
  it.each(['v20.20.2', 'v22.19.0', 'v23.1.0'])('is missing or too old in %s, which reports it', (version) => {
    expect(() => requireSqlite(version)).toThrow(
      `requires the SQLite of Node 24 or newer, but this is Node ${version}; start it with a newer Node, or with --store memory:`,
    )
  })

  it.each(['v24.0.0', 'v26.1.0', process.version])('is in %s', (version) => {
    expect(() => requireSqlite(version)).not.toThrow()
  })
})
