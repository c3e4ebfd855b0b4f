/** A sensor that is IN while a point lies in at least one of several areas. */
import { definePlug, problemsOfCode } from '#plug'
import { geofencesOf, isInside, pointOf } from './geometry.ts'

export const objectInsideGeofence = definePlug({
  name: 'objectInsideGeofence',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'IN when a place lies in at least one of several areas, each a circle with a radius in metres or a polygon, including its edge, otherwise OUT.',
  category: 'Place',
  parameters: [],
  states: ['IN', 'OUT'],
  input: {
    geofences: {
      type: 'array',
      mandatory: true,
      description:
        'the areas: {"type": "circle", "center": place, "radius": metres} or {"type": "polygon", "points": [place, ...]}, each with an optional name',
      example: [{ name: 'yard', type: 'circle', center: { latitude: 51.05, longitude: 3.72 }, radius: 200 }],
    },
    coordinates: {
      type: 'any',
      mandatory: true,
      description: 'the place: {"latitude": degrees, "longitude": degrees} or [latitude, longitude]',
      example: { latitude: 51.0501, longitude: 3.7201 },
    },
  },
  output: { results: { type: 'array', description: 'name and inside (true or false) for each area, in order' } },
  check: ({ geofences, coordinates }) => [
    ...problemsOfCode('geofences', geofences, geofencesOf),
    ...problemsOfCode('coordinates', coordinates, (value) => pointOf(value, 'coordinates')),
  ],
  prepare: ({ geofences }) => geofencesOf(geofences),
  execute({ properties, prepared }) {
    const point = pointOf(properties.coordinates, 'coordinates')
    const results = prepared.map((fence) => ({ name: fence.name, inside: isInside(point, fence) }))
    return { state: results.some(({ inside }) => inside) ? 'IN' : 'OUT', rawData: { results } }
  },
})
