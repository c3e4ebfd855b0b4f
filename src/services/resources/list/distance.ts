/** Distances as texts, on the globe, and as boxes. */

/** metres of a unit; a number alone is metres */
const METRES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['mm', 0.001],
  ['cm', 0.01],
  ['m', 1],
  ['meters', 1],
  ['km', 1000],
  ['kilometers', 1000],
  ['in', 0.0254],
  ['inch', 0.0254],
  ['ft', 0.3048],
  ['feet', 0.3048],
  ['yd', 0.9144],
  ['yards', 0.9144],
  ['mi', 1609.344],
  ['miles', 1609.344],
  ['nmi', 1852],
  ['NM', 1852],
  ['nauticalmiles', 1852],
])

export const DISTANCE_UNITS = [...METRES.keys()].filter((unit) => unit !== '')

export const EARTH_RADIUS_M = 6_371_008.8
const DISTANCE = /^(\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})[ ]?([a-zA-Z]{0,16})$/

/** Metres; undefined when it is no number with a known unit. */
export function metresOf(text: string): number | undefined {
  const [, number = '', unit = ''] = DISTANCE.exec(text.trim()) ?? []
  const factor = METRES.get(unit)
  return number === '' || factor === undefined ? undefined : Number(number) * factor
}

export interface Point {
  readonly lat: number
  readonly lon: number
}

/** Metres along a great circle of a sphere. */
export function distanceM(a: Point, b: Point): number {
  const lat = radians(b.lat - a.lat) / 2
  const lon = radians(b.lon - a.lon) / 2
  const h = Math.sin(lat) ** 2 + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(lon) ** 2
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)))
}

export interface Box {
  readonly south: number
  readonly north: number
  readonly west: number
  readonly east: number
}

/** Rounding must not lose a place on the edge. */
const SLACK_DEGREES = 1e-6

/** Has everything within so many metres; `west > east` crosses the date line. */
export function boxAround({ lat, lon }: Point, metres: number): Box {
  const angle = metres / EARTH_RADIUS_M
  const degrees = (angle * 180) / Math.PI + SLACK_DEGREES
  const south = Math.max(-90, lat - degrees)
  const north = Math.min(90, lat + degrees)
  const ratio = Math.sin(angle) / Math.cos(radians(lat))
  // a circle around a pole has every longitude
  const reach = angle >= Math.PI / 2 || !(ratio < 1) || lat + degrees >= 90 || lat - degrees <= -90
  const across = reach ? 180 : (Math.asin(ratio) * 180) / Math.PI + SLACK_DEGREES
  if (across >= 180) return { south, north, west: -180, east: 180 }
  return { south, north, west: wrapped(lon - across), east: wrapped(lon + across) }
}

function wrapped(lon: number): number {
  return lon < -180 ? lon + 360 : lon > 180 ? lon - 360 : lon
}

export function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}
