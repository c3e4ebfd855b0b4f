import { expect, it } from 'vitest'
import { readConfig, type Given } from '../../../src/host/config.ts'
import type { AppError } from '../../../src/kernel/errors.ts'

const SERVICES = ['broker', 'rules', 'objects', 'subscriptions']
const RIGHT: Given = { cluster: true, store: 'postgres://me@db/reflexarc', blobs: '/srv/objects' }

function problemsOf(given: Given): readonly string[] {
  try {
    readConfig(given, {}, SERVICES)
    return []
  } catch (error) {
    return (error as AppError).message.split('\nerror: ')
  }
}

it('a host of a cluster needs a PostgreSQL and a folder that all share', () => {
  expect(problemsOf(RIGHT)).toEqual([])
  expect(readConfig({ ...RIGHT, advertise: 'http://10.0.0.1:8080/' }, {}, SERVICES).cluster).toEqual({
    advertise: 'http://10.0.0.1:8080',
  })
})

it('all problems of a cluster host are reported at once', () => {
  const wrong = { cluster: true, store: 'sqlite:', host: '0.0.0.0' }
  expect(problemsOf(wrong).map((problem) => problem.split(':', 1)[0])).toEqual([
    '--cluster',
    '--cluster',
    '--advertise',
  ])
  expect(problemsOf({ ...RIGHT, only: 'broker,objects', objects: 's3://bucket' })).toEqual([])
})

it('addresses of hosts have no path, and are for hosts of a cluster', () => {
  expect(problemsOf({ ...RIGHT, advertise: 'http://10.0.0.1/x' })[0]).toContain('without a path')
  expect(problemsOf({ advertise: 'http://10.0.0.1' })).toEqual(['--advertise: requires --cluster'])
})
