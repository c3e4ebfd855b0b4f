import { describe, expect, it } from 'vitest'
import { distanceM } from '../../plugins/object-inside-geofence/geometry.ts'
import { objectInsideGeofence } from '../../plugins/object-inside-geofence/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const yard = { name: 'yard', type: 'circle', center: [51.05, 3.72], radius: 200 }
const square = {
  type: 'polygon',
  points: [
    [0, 0],
    [0, 2],
    [2, 2],
    [2, 0],
  ],
}
const kite = {
  type: 'polygon',
  points: [
    [50.1, 3.1],
    [50.4, 4.0],
    [50.1, 4.9],
    [49.8, 4.0],
  ],
}
const island = {
  type: 'polygon',
  points: [
    [-18, 179],
    [-18, -179],
    [-16, -179],
    [-16, 179],
  ],
}

describe('objectInsideGeofence', () => {
  it.each([
    [[yard], [51.0517, 3.72], 'IN', [true]],
    [[yard], [51.0519, 3.72], 'OUT', [false]],
    [[yard, square], { latitude: 1, longitude: 1 }, 'IN', [false, true]],
    [[square], { lat: 1, lng: 2.1 }, 'OUT', [false]],
    [[island], [-17, 179.9], 'IN', [true]],
    [[island], [-17, -179.9], 'IN', [true]],
    [[island], [-17, 0], 'OUT', [false]],
    [[], [0, 0], 'OUT', []],
    // edges belong to the area, as the circle's does
    [[square], [0, 1], 'IN', [true]],
    [[square], [1, 2], 'IN', [true]],
    [[square], [2, 1], 'IN', [true]],
    [[square], [1, 0], 'IN', [true]],
    [[square], [2, 2], 'IN', [true]],
    [[square], [2, 2.000001], 'OUT', [false]],
    [[kite], [50.2, 3.4], 'IN', [true]],
    [[kite], [50.3, 4.3], 'IN', [true]],
    [[kite], [50.2, 3.399999], 'OUT', [false]],
    [[island], [-18, 180], 'IN', [true]],
    [[island], [-17, -179], 'IN', [true]],
  ])('with %j and %j returns %s', (geofences, coordinates, state, inside) => {
    const ran = runPlug(objectInsideGeofence, { properties: { geofences, coordinates } })
    expect(ran.state).toBe(state)
    expect(ran.rawData).toEqual({ results: inside.map((one) => expect.objectContaining({ inside: one }) as unknown) })
  })

  it('measures along the sphere', () => {
    const ghent = { latitude: 51.05, longitude: 3.72 }
    expect(distanceM(ghent, { latitude: 50.85, longitude: 4.35 })).toBeCloseTo(49_400, -3)
    expect(distanceM({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 180 })).toBeCloseTo(
      Math.PI * 6_371_008.8,
      0,
    )
  })

  it.each([
    [{ geofences: [{ type: 'circle', center: [0, 0] }] }, 'lacks a radius'],
    [{ geofences: [{ type: 'circle', center: [91, 0], radius: 1 }] }, 'the center of geofence 0 is not a valid place'],
    [{ geofences: [{ type: 'polygon', points: [[0, 0]] }] }, 'neither a circle nor a polygon'],
    [{ geofences: [5] }, 'neither'],
    [{ coordinates: 'here' }, 'coordinates is not a valid place'],
  ])('rejects %j: %s', (properties, text) => {
    expect(checkPlug(objectInsideGeofence, properties).join()).toContain(text)
  })
})
