import { describe, expect, it } from 'vitest'
import { ownPath } from '../../src/host/path-aliases.ts'

describe('paths of the original platform', () => {
  it.each([
    ['GET', '/rules/v1/tasks?hits=2', '/api/tasks?hits=2'],
    ['POST', '/rules/v1/tasks/a%2Fb/command/start', '/api/tasks/a%2Fb/command/start'],
    ['POST', '/rules/v1/data', '/api/data'],
    ['GET', '/rules/v1', '/'],
    ['GET', '/rules/v1/?x=1', '/?x=1'],
    ['GET', '/resources/v1/resources/r1', '/api/resources/r1'],
    ['GET', '/resources/v1/resourcetypes', '/api/resourcetypes'],
    ['POST', '/resources/v1/resourceconstraints', '/api/resourceconstraints'],
    ['POST', '/resources/v1/batch', '/api/batch'],
    ['GET', '/resources/v1/', '/'],
    ['GET', '/alarms/v1/alarms?status=ACTIVE', '/alarm/alarms?status=ACTIVE'],
    ['GET', '/alarms/v1/events', '/alarm/events'],
    ['GET', '/alarms/v1/batch/b1', '/batch/b1'],
    ['GET', '/data/v1/', '/'],
    ['POST', '/data/v1/events', '/messages'],
    ['POST', '/data/v1/events/r1?store=false', '/resources/r1/events?store=false'],
    ['DELETE', '/data/v1/r1', '/resources/r1'],
    ['GET', '/data/v1/messages/r1', '/resources/r1/messages'],
    ['GET', '/data/v1/messages/r1/current', '/resources/r1/current'],
    ['POST', '/data/v1/messages/query', '/messages/query'],
    ['GET', '/data/v1/messages/query', '/resources/query/messages'],
    ['GET', '/data/v1/series/r1/t/raw?limit=1', '/resources/r1/series/t/raw?limit=1'],
    ['POST', '/data/v1/series/query', '/series/query'],
    ['DELETE', '/data/v1/series/r1', '/resources/r1?onlytimeseries=true'],
    ['DELETE', '/data/v1/series/r1?from=1', '/resources/r1?from=1&onlytimeseries=true'],
    ['POST', '/queries/v1/data', '/data/query'],
    ['GET', '/queries/v1/data/q1', '/data/query/q1'],
    ['GET', '/queries/v1/query?q=x', '/config/query?q=x'],
  ])('%s %s reaches %s', (method, url, own) => {
    expect(ownPath({ method, url })).toBe(own)
  })

  it.each([
    ['POST', '/resources/v1/events'],
    ['POST', '/resources/v1'],
    ['DELETE', '/resources/v1'],
    ['GET', '/resources/v1/series/resources/raw'],
    ['GET', '/resources/v1/messages'],
    ['GET', '/resources/v12/resources'],
    ['GET', '/rules/v11/tasks'],
    ['GET', '/registry/v2/plugs'],
    ['GET', '/api/tasks?next=/rules/v1/tasks'],
    ['GET', '/queries/v1/other'],
  ])('%s %s stays', (method, url) => {
    expect(ownPath({ method, url })).toBe(url)
  })
})
