/** Bodies of devices: one message with five metrics, or an array of points with times of their own. */

const START = Date.UTC(2026, 0, 1)

export function bodyOf(device: number, points: number): string {
  if (points === 1) return JSON.stringify(messageOf(device))
  return JSON.stringify(pointsOf(device, points).map(({ time, value }) => ({ timestamp: time, temperature: value })))
}

function messageOf(device: number): object {
  return { temperature: 20.5 + device, humidity: 61, pressure: 1013.25, running: true, mode: 'auto' }
}

export function pointsOf(device: number, count: number): readonly { readonly time: number; readonly value: number }[] {
  return Array.from({ length: count }, (_, i) => ({
    time: START + i * 1_000,
    value: 20 + ((i * 7 + device) % 100) / 10,
  }))
}
