// Saves a picture as it is, with what is out of sight.
interface SaveProps {
  onSvg?(): void;
  onPng(): void;
}

export function SaveButtons({ onSvg, onPng }: SaveProps) {
  return (
    <div class="toggle save" role="group" aria-label="Save the picture">
      {onSvg !== undefined && (
        <button type="button" data-save="svg" onClick={onSvg} title="Saves the whole picture, for any size (S)">
          Save SVG
        </button>
      )}
      <button type="button" data-save="png" onClick={onPng} title="Saves the whole picture with twice the pixels (Shift+S)">
        {onSvg === undefined ? 'Save PNG' : 'PNG'}
      </button>
    </div>
  );
}
