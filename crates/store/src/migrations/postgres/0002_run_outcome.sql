-- How a run ended: done, or abandoned when its process died. The other engine's file of the same number does the same.
ALTER TABLE check_run ADD COLUMN outcome TEXT;
