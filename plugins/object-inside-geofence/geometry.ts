/** Defines points, circles and polygons on the globe, and tests containment. */
import { AppError, isPlainObject, numberIn } from '#plug'

export interface Point {
  readonly latitude: number
  readonly longitude: number
}

export type Geofence =
  | { readonly name: string; readonly type: 'circle'; readonly center: Point; readonly radius: number }
  | { readonly name: string; readonly type: 'polygon'; readonly points: readonly Point[] }

const EARTH_RADIUS_M = 6_371_008.8
/** tolerance for rounding, in degrees: a tenth of a millimetre */
const EDGE = 1e-9
const MAX_POINTS = 10_000

export function distanceM(a: Point, b: Point): number {
  const radians = Math.PI / 180
  const dLat = (b.latitude - a.latitude) * radians
  const dLon = (b.longitude - a.longitude) * radians
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * Math.sin(dLon / 2) ** 2
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)))
}

export function isInside(point: Point, fence: Geofence): boolean {
  if (fence.type === 'circle') return distanceM(point, fence.center) <= fence.radius
  const line = unwrapped(fence.points)
  return [-360, 0, 360].some((turn) => encloses(line, point.latitude, point.longitude + turn))
}

function encloses(line: readonly Point[], latitude: number, longitude: number): boolean {
  let inside = false
  let before = line.at(-1)
  for (const point of line) {
    if (before && distanceToEdge(before, point, latitude, longitude) <= EDGE) return true
    if (before && point.latitude > latitude !== before.latitude > latitude) {
      const part = (latitude - point.latitude) / (before.latitude - point.latitude)
      if (longitude < point.longitude + (before.longitude - point.longitude) * part) inside = !inside
    }
    before = point
  }
  return inside
}

function distanceToEdge(from: Point, to: Point, latitude: number, longitude: number): number {
  const [up, east] = [to.latitude - from.latitude, to.longitude - from.longitude]
  const [y, x] = [latitude - from.latitude, longitude - from.longitude]
  const part = Math.min(1, Math.max(0, (y * up + x * east) / (up * up + east * east || 1)))
  return Math.hypot(y - part * up, x - part * east)
}

/** Removes jumps at the date line; longitudes may then exceed 180. */
function unwrapped(points: readonly Point[]): readonly Point[] {
  let last = points[0]?.longitude ?? 0
  return points.map(({ latitude, longitude }) => {
    last = longitude + 360 * Math.round((last - longitude) / 360)
    return { latitude, longitude: last }
  })
}

/** Parses `{latitude, longitude}` (also `lat`, and `lon` or `lng`) or `[latitude, longitude]`. Throws `PLUG_FAILED`. */
export function pointOf(value: unknown, what: string): Point {
  const pair: readonly unknown[] = Array.isArray(value)
    ? value
    : isPlainObject(value)
      ? [value['latitude'] ?? value['lat'], value['longitude'] ?? value['lon'] ?? value['lng']]
      : []
  const [latitude, longitude] = [numberIn(pair[0]), numberIn(pair[1])]
  if (latitude !== undefined && longitude !== undefined && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) {
    return { latitude, longitude }
  }
  throw new AppError(
    'PLUG_FAILED',
    `${what} is not a valid place; use a form such as {"latitude": 51.05, "longitude": 3.72}`,
  )
}

export function geofencesOf(list: readonly unknown[]): readonly Geofence[] {
  return list.map((value, index): Geofence => {
    const what = `geofence ${index}`
    const fields = isPlainObject(value) ? value : {}
    const name = typeof fields['name'] === 'string' ? fields['name'] : String(index)
    if (fields['type'] === 'circle') {
      const radius = numberIn(fields['radius'])
      if (radius !== undefined && radius >= 0)
        return { name, type: 'circle', center: pointOf(fields['center'], `the center of ${what}`), radius }
      throw new AppError(
        'PLUG_FAILED',
        `${what} lacks a radius in metres; use a form such as {"type": "circle", "center": {...}, "radius": 100}`,
      )
    }
    const points: unknown = fields['points']
    if (fields['type'] !== 'polygon' || !Array.isArray(points) || points.length < 3 || points.length > MAX_POINTS) {
      throw new AppError(
        'PLUG_FAILED',
        `${what} is neither a circle nor a polygon of 3 to ${MAX_POINTS} points; use a form such as {"type": "polygon", "points": [[51, 3], [51, 4], [52, 4]]}`,
      )
    }
    return { name, type: 'polygon', points: points.map((point, i) => pointOf(point, `point ${i} of ${what}`)) }
  })
}
