/** x */
import { Answer } from '../parts/layout.tsx'
export function Operations() {
  return <Answer title="Operations" />
}
