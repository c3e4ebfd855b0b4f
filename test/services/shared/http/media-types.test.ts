import { expect, it } from 'vitest'
import { pagedTypeOf, timelineTypeOf } from '../../../../src/services/shared/http/media-types.ts'

it.each([
  ['application/vnd.service.paged+json', 'application/vnd.service.paged+json'],
  ['text/html, application/vnd.acme.iot.paged+json;q=0.5', 'application/vnd.acme.iot.paged+json'],
  ['application/vnd.paged+json', undefined],
  ['application/json', undefined],
  [undefined, undefined],
])('a page is known by its suffix: %s', (accept, type) => {
  expect(pagedTypeOf(accept)).toBe(type)
})

it('a timeline of alarms is known by its suffix', () => {
  expect(timelineTypeOf('application/vnd.acme.alarms.timeseries+json')).toBe(
    'application/vnd.acme.alarms.timeseries+json',
  )
  expect(timelineTypeOf('application/vnd.acme.alarms+json')).toBeUndefined()
})
